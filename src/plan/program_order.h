// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "counterpoise/plan.h"
#include "plan/topology.h"

namespace counterpoise {

// What a rank does within a step, in this order; within a phase, in the order of the topology's hops.
// Every wait then follows, in (step, phase) order, the posts of both its sides: no cycle of waits is
// possible.
enum Phase { kPostRecv, kPostSend, kCompute, kCollect, kPostResult, kDrain, kPhases };

// Calls emit(rank, step, phase, kind) for the ops of one message: `src` and `dst` are the ranks of hop.from
// and hop.into. The receiver of an up hop merges what arrived into what it has.
template <typename Emit>
void for_each_op(const Hop& hop, int32_t src, int32_t dst, Emit emit) {
  emit(dst, hop.up ? hop.post + 1 : hop.post, kPostRecv, OpKind::kRecv);
  emit(src, hop.post, hop.up ? kPostResult : kPostSend, OpKind::kSend);
  emit(dst, hop.done, hop.up ? kCollect : kDrain, OpKind::kWait);
  if (hop.up) emit(dst, hop.done, kCollect, OpKind::kMerge);
  emit(src, hop.done, kDrain, OpKind::kWait);
}

}  // namespace counterpoise
