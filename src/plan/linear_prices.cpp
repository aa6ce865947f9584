// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "counterpoise/prices.h"

namespace counterpoise {

double LinearPrices::attend(const AttentionShape& shape, std::span<const PlanDocument>,
                            std::span<const Tile> tiles, bool backward) const {
  double pairs = 0;
  for (const Tile& tile : tiles) {
    pairs += static_cast<double>(area(tile.q, tile.kv, shape.mask)) * tile.heads.size();
  }
  const double factor = backward ? list_.backward_factor : 1.0;
  return list_.seconds_per_call + factor * list_.seconds_per_pair * pairs;
}

double LinearPrices::merge(const Buffer& from) const {
  return list_.merge_seconds_per_byte * static_cast<double>(from.bytes);
}

Link LinearPrices::link(int32_t src, int32_t dst, int64_t) const {
  const bool one_node = list_.ranks_per_node == 0 || src / list_.ranks_per_node == dst / list_.ranks_per_node;
  return one_node ? list_.in_node : list_.between_nodes;
}

double LinearPrices::all_reduce(int32_t ranks) const {
  if (ranks <= 1) return 0;
  const Link slowest = link(0, ranks - 1, 0);
  const double hops = 2.0 * (ranks - 1);
  return hops * slowest.latency + hops / ranks * list_.all_reduce_bytes / slowest.bytes_per_second;
}

}  // namespace counterpoise
