// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kernels/backend.h"

namespace counterpoise {

// One row at a time, in plain float32 loops over the visible keys only: no masked key is ever read, so an
// infinity or NaN reaches exactly the rows that see it. Runs anywhere; the blocked kernels hand it what they
// cannot do exactly.
void rows_forward(const AttentionProblem& problem, const ForwardTensors& tensors);
void rows_backward(const AttentionProblem& problem, const BackwardTensors& tensors);

}  // namespace counterpoise
