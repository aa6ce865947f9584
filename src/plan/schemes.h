// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "counterpoise/scheme.h"

namespace counterpoise {

// Routes in which every rank computes its own queries, all heads, and no keys travel yet.
Routes stationary_routes(const SchemeInput& input, int32_t steps);

// Share `index` of `parts` of the query heads; shares differ by at most one.
inline HeadRange share_of_heads(int32_t heads, int32_t parts, int32_t index) {
  const auto cut = [&](int64_t i) { return static_cast<int32_t>(heads * i / parts); };
  return {cut(index), cut(index + 1)};
}

// The largest divisor of cp that is at most `most` and at most the square root of cp.
int32_t near_square_divisor(int32_t cp, int32_t most);
// The divisor of cp, at most `most`, that is nearest to `wanted`; the smaller of two.
int32_t nearest_divisor(int32_t cp, int32_t wanted, int32_t most);

inline void route_keys(Routes& routes, int32_t rank, int32_t holder, int32_t parent, int32_t step) {
  routes.kv_parent[routes.at(rank, holder)] = parent;
  routes.kv_step[routes.at(rank, holder)] = step;
}

}  // namespace counterpoise
