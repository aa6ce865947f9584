// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "counterpoise/plan.h"
#include "counterpoise/prices.h"
#include "counterpoise/timeline.h"

namespace counterpoise {

// Runs all ranks of a plan on a virtual clock. Every rank has a compute stream (its program, in order) and
// one egress port (its messages, first in first out); posting costs nothing. A receiver's wait ends when the
// message has arrived, a sender's when its bytes have left the port. Windows follow each other, forward
// before backward, without a barrier; the step ends in the all-reduce, which all ranks of all groups enter.
// Throws kCheckFailed, naming ranks and ops, for a plan in which ranks wait forever.
Timeline simulate_plan(const StepPlan& plan, const Prices& prices);

}  // namespace counterpoise
