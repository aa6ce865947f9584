// SPDX-License-Identifier: Apache-2.0
#include "plan/schemes.h"

namespace counterpoise {

// Only the keys somebody needs, straight from their holder: a halo under a sliding window, nothing for whole
// documents. In the order of the ring, one holder per step, so that two buffers suffice.
Routes route_direct(const SchemeInput& input) {
  Routes routes = stationary_routes(input, input.cp);
  routes.trim = true;
  for (int32_t rank = 0; rank < input.cp; ++rank) {
    for (int32_t step = 1; step < input.cp; ++step) {
      const int32_t holder = (rank + input.cp - step) % input.cp;
      route_keys(routes, rank, holder, holder, step);
    }
  }
  return routes;
}

}  // namespace counterpoise
