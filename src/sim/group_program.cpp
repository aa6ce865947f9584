// SPDX-License-Identifier: Apache-2.0
#include "sim/group_program.h"

#include <algorithm>
#include <tuple>

#include "counterpoise/error.h"
#include "plan/program_order.h"

namespace counterpoise {
namespace {

struct Placed {
  int32_t step;
  Phase phase;
  GroupOp op;
};

// A rank that waits before anybody sent would read what is not there yet.
void check_order(const PassProgram& pass) {
  std::vector<char> sent(pass.messages.size(), 0);
  for (const GroupOp& op : pass.ops) {
    if (op.kind == OpKind::kSend) sent[static_cast<size_t>(op.index)] = 1;
    if (op.kind == OpKind::kWait) CP_CHECK(sent[static_cast<size_t>(op.index)]);
  }
}

PassProgram make_pass(const Routes& routes, const Topology& topology, const AttentionShape& shape,
                      bool backward) {
  std::vector<Placed> placed;
  for (int32_t rank = 0; rank < routes.cp; ++rank) {
    for (int32_t step = 0; step < routes.steps; ++step) {
      const int32_t at = backward ? routes.steps - step : step;
      placed.push_back({at, kCompute, {OpKind::kAttend, rank, rank * routes.steps + step}});
    }
  }
  PassProgram pass;
  for (const Hop& hop : backward ? topology.backward : topology.forward) {
    const int32_t src = topology.blocks[static_cast<size_t>(hop.from)].rank;
    const int32_t dst = topology.blocks[static_cast<size_t>(hop.into)].rank;
    const auto message = static_cast<int32_t>(pass.messages.size());
    pass.messages.push_back({src, dst, hop_load(hop, topology, routes, shape, backward)});
    for_each_op(hop, src, dst, [&](int32_t rank, int32_t step, Phase phase, OpKind kind) {
      placed.push_back({step, phase, {kind, rank, message}});
    });
  }
  std::stable_sort(placed.begin(), placed.end(), [](const Placed& a, const Placed& b) {
    return std::tuple(a.step, a.phase, a.op.rank) < std::tuple(b.step, b.phase, b.op.rank);
  });
  for (const Placed& one : placed) {
    if (one.op.kind != OpKind::kRecv) pass.ops.push_back(one.op);  // posting costs nothing
  }
  check_order(pass);
  return pass;
}

}  // namespace

GroupProgram make_group_program(Routes routes, const AttentionShape& shape) {
  GroupProgram program;
  program.topology = make_topology(routes);
  program.forward = make_pass(routes, program.topology, shape, false);
  program.backward = make_pass(routes, program.topology, shape, true);
  program.routes = std::move(routes);
  return program;
}

}  // namespace counterpoise
