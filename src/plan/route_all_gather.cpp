// SPDX-License-Identifier: Apache-2.0
#include "plan/schemes.h"

namespace counterpoise {

// Own keys at step 0, while the others' arrive; all the others' at step 1, in one buffer in document order.
Routes route_all_gather(const SchemeInput& input) {
  Routes routes = stationary_routes(input, input.cp > 1 ? 2 : 1);
  for (int32_t rank = 0; rank < input.cp; ++rank) {
    for (int32_t holder = 0; holder < input.cp; ++holder) {
      if (holder != rank) route_keys(routes, rank, holder, holder, 1);
    }
  }
  return routes;
}

}  // namespace counterpoise
