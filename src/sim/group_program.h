// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "plan/hop_load.h"
#include "plan/topology.h"

namespace counterpoise {

// An op of some rank. index: of an attend, rank * steps + forward step; else of the message.
struct GroupOp {
  OpKind kind;
  int32_t rank;
  int32_t index;
};

struct PassProgram {
  struct Message {
    int32_t src, dst;
    HopLoad load;
  };
  std::vector<Message> messages;  // by hop of the topology
  // The programs of all ranks as one, in (step, phase) order: every message is sent before anybody waits for
  // it. A rank's own ops are in the order of its program in a plan.
  std::vector<GroupOp> ops;
};

// What the programs of all windows of a group have in common; ops without rows or tiles in a window are not
// in that window's plan.
struct GroupProgram {
  Routes routes;
  Topology topology;
  PassProgram forward, backward;
};

GroupProgram make_group_program(Routes routes, const AttentionShape& shape);

}  // namespace counterpoise
