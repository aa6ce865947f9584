// SPDX-License-Identifier: Apache-2.0
#include "plan/schemes.h"
#include "plan/serve.h"

namespace counterpoise {

// Attention away from the tokens' holder (DistCA, Zhuang et al. 2025): queries of ranks above the mean area
// travel to ranks below it together with the keys they see; out and lse return. Balances any placement.
Routes route_attention_server(const SchemeInput& input) {
  Routes routes = stationary_routes(input, input.cp > 1 ? 2 : 1);
  routes.trim = true;
  routes.work = level_work(input.lengths, *input.placement, input.shape.mask);
  for (int32_t rank = 0; rank < input.cp; ++rank) {
    for (int32_t holder = 0; holder < input.cp; ++holder) {
      if (holder != rank) route_keys(routes, rank, holder, holder, 1);
    }
  }
  for (const Work& work : routes.work) {
    if (work.rank != work.holder) routes.q_step[routes.at(work.rank, work.holder)] = 1;
  }
  return routes;
}

}  // namespace counterpoise
