// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "counterpoise/prices.h"

namespace counterpoise {

// A machine whose costs are all of their own: a call, a pair, a merged byte, a message in a node and between
// nodes.
inline LinearPriceList two_level_prices(int32_t ranks_per_node) {
  return {.seconds_per_call = 3e-6,
          .seconds_per_pair = 1.7e-9,
          .backward_factor = 2.5,
          .merge_seconds_per_byte = 1.1e-11,
          .ranks_per_node = ranks_per_node,
          .in_node = {2e-6, 3e10},
          .between_nodes = {1.3e-5, 4e9}};
}

}  // namespace counterpoise
