// SPDX-License-Identifier: Apache-2.0
#include "counterpoise/error.h"
#include "plan/schemes.h"

namespace counterpoise {
namespace {

int32_t inner_size(const SchemeInput& input) {
  const int32_t inner =
      input.options.inner == 0 ? near_square_divisor(input.cp, input.shape.heads) : input.options.inner;
  if (inner >= 1 && input.cp % inner == 0 && inner <= input.shape.heads) return inner;
  const int32_t nearest = nearest_divisor(input.cp, inner, input.shape.heads);
  throw_error(
      ErrorKind::kInfeasible,
      "scheme ring2d, inner {}: must divide cp {} and be at most the {} query heads; nearest legal: inner {}",
      inner, input.cp, input.shape.heads, nearest);
}

}  // namespace

// Head exchange among `inner` neighbours, ring over the rest (USP, Fang and Zhao 2024). Rank = outer * inner
// + i. Step 0: own rows, own heads. Step 1: the neighbours' queries and keys of my heads have arrived. Then
// the keys of the other groups, again of my heads only, pass round the ring of ranks with the same i.
Routes route_ring2d(const SchemeInput& input) {
  const int32_t inner = inner_size(input), outer = input.cp / inner;
  const int32_t exchange = inner > 1 ? 1 : 0;
  Routes routes = stationary_routes(input, exchange + outer);
  for (int32_t rank = 0; rank < input.cp; ++rank) {
    const int32_t group = rank / inner, i = rank % inner;
    routes.heads[rank] = share_of_heads(input.shape.heads, inner, i);
    for (int32_t holder = 0; holder < input.cp; ++holder) {
      const int32_t behind = (group - holder / inner + outer) % outer;
      if (behind > 0) {
        route_keys(routes, rank, holder, (group + outer - 1) % outer * inner + i, exchange + behind);
      } else if (holder != rank) {
        route_keys(routes, rank, holder, holder, 1);
        routes.q_step[routes.at(rank, holder)] = 1;
      }
    }
  }
  return routes;
}

}  // namespace counterpoise
