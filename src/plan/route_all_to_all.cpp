// SPDX-License-Identifier: Apache-2.0
#include "counterpoise/error.h"
#include "plan/schemes.h"

namespace counterpoise {

// Head exchange (DeepSpeed-Ulysses, Jacobs et al. 2023): rank r computes all queries of its share of the
// heads. Each message carries the heads its receiver computes, and of keys only the kv heads those read.
// Shares differ by at most one head. A rank without a head would have nothing to compute, so cp is at most
// the number of query heads.
Routes route_all_to_all(const SchemeInput& input) {
  if (input.cp > input.shape.heads) {
    throw_error(
        ErrorKind::kInfeasible,
        "scheme all_to_all, cp {}: every rank computes whole heads, so cp may be at most the {} query heads; "
        "nearest legal: cp {}, or scheme ring2d",
        input.cp, input.shape.heads, input.shape.heads);
  }
  Routes routes = stationary_routes(input, input.cp > 1 ? 2 : 1);
  for (int32_t rank = 0; rank < input.cp; ++rank) {
    routes.heads[rank] = share_of_heads(input.shape.heads, input.cp, rank);
    for (int32_t holder = 0; holder < input.cp; ++holder) {
      if (holder == rank) continue;
      route_keys(routes, rank, holder, holder, 1);
      routes.q_step[routes.at(rank, holder)] = 1;
    }
  }
  return routes;
}

}  // namespace counterpoise
