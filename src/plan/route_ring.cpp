// SPDX-License-Identifier: Apache-2.0
#include "plan/schemes.h"

namespace counterpoise {

// Ring attention (Liu, Zaharia, Abbeel 2023): at step s rank r holds the keys of rank r - s and passes them
// on to rank r + 1 while it computes.
Routes route_ring(const SchemeInput& input) {
  Routes routes = stationary_routes(input, input.cp);
  for (int32_t rank = 0; rank < input.cp; ++rank) {
    const int32_t parent = (rank + input.cp - 1) % input.cp;
    for (int32_t step = 1; step < input.cp; ++step) {
      route_keys(routes, rank, (rank + input.cp - step) % input.cp, parent, step);
    }
  }
  return routes;
}

}  // namespace counterpoise
