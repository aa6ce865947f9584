// SPDX-License-Identifier: Apache-2.0
#include "counterpoise/error.h"
#include "plan/schemes.h"

namespace counterpoise {
namespace {

int32_t node_size(const SchemeInput& input) {
  const int32_t inner =
      input.options.inner == 0 ? near_square_divisor(input.cp, input.cp) : input.options.inner;
  if (inner >= 1 && input.cp % inner == 0) return inner;
  throw_error(ErrorKind::kInfeasible,
              "scheme double_ring, inner {}: ranks per node must divide cp {}; nearest legal: inner {}",
              inner, input.cp, nearest_divisor(input.cp, inner, input.cp));
}

}  // namespace

// A ring inside each node within a ring over nodes (LoongTrain, Gu et al. 2024). Rank = node * inner + i.
// While keys pass round the node, the next node's keys are already on their way, each crossing between nodes
// once.
Routes route_double_ring(const SchemeInput& input) {
  const int32_t inner = node_size(input), nodes = input.cp / inner;
  Routes routes = stationary_routes(input, input.cp);
  routes.lead = inner;
  for (int32_t rank = 0; rank < input.cp; ++rank) {
    const int32_t node = rank / inner, i = rank % inner;
    for (int32_t holder = 0; holder < input.cp; ++holder) {
      if (holder == rank) continue;
      const int32_t across = (node - holder / inner + nodes) % nodes;
      const int32_t along = (i - holder % inner + inner) % inner;
      const int32_t in_node = node * inner + (i + inner - 1) % inner;
      const int32_t other_node = (node + nodes - 1) % nodes * inner + i;
      route_keys(routes, rank, holder, along > 0 ? in_node : other_node, across * inner + along);
    }
  }
  return routes;
}

}  // namespace counterpoise
