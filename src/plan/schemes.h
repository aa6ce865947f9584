// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "counterpoise/scheme.h"

namespace counterpoise {

// Routes in which every rank computes its own queries, all heads, and no keys travel yet.
Routes stationary_routes(const SchemeInput& input, int32_t steps);

inline void route_keys(Routes& routes, int32_t rank, int32_t holder, int32_t parent, int32_t step) {
  routes.kv_parent[routes.at(rank, holder)] = parent;
  routes.kv_step[routes.at(rank, holder)] = step;
}

}  // namespace counterpoise
