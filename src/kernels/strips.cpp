// SPDX-License-Identifier: Apache-2.0
#include "kernels/strips.h"

#include <algorithm>

namespace counterpoise {

std::vector<Strip> strips_of(std::span<const AttentionTile> tiles) {
  std::vector<int> order;
  std::vector<int64_t> cuts;
  for (size_t i = 0; i < tiles.size(); ++i) {
    const AttentionTile& tile = tiles[i];
    if (tile.q.empty() || tile.heads.empty()) continue;
    order.push_back(static_cast<int>(i));
    cuts.push_back(tile.q_row);
    cuts.push_back(tile.q_row + tile.q.size());
  }
  std::sort(cuts.begin(), cuts.end());
  cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return tiles[a].q_row < tiles[b].q_row; });

  std::vector<Strip> strips;
  std::vector<int> active;  // tiles that hold the current cut, in call order
  size_t next = 0;
  for (size_t i = 0; i + 1 < cuts.size(); ++i) {
    const int64_t row = cuts[i];
    std::erase_if(active, [&](int t) { return tiles[t].q_row + tiles[t].q.size() <= row; });
    while (next < order.size() && tiles[order[next]].q_row == row) active.push_back(order[next++]);
    if (active.empty()) continue;
    std::sort(active.begin(), active.end());
    strips.push_back({{row, cuts[i + 1]}, active});
  }
  return strips;
}

}  // namespace counterpoise
