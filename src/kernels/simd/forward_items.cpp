// SPDX-License-Identifier: Apache-2.0
#include "kernels/simd/forward_items.h"

#include <algorithm>

namespace counterpoise {
namespace {

// Panels that share a key block while it is in the second-level cache. Keys of a long document come from
// further away and are worth sharing more often, as long as the panels themselves still fit.
int64_t panels_per_item(Range rows, const HeadShape& shape) {
  return rows.size() >= 4096 && shape.head_dim + shape.v_head_dim <= 256 ? kMaxPanelsPerItem
                                                                         : kMaxPanelsPerItem / 2;
}

}  // namespace

std::vector<ForwardItem> forward_items(const AttentionProblem& problem, const std::vector<Strip>& strips,
                                       int64_t width) {
  std::vector<ForwardItem> items;
  for (const Strip& strip : strips) {
    const int64_t rows_per_item = panels_per_item(strip.rows, problem.shape) * width;
    for (int64_t head = 0; head < problem.shape.heads; ++head) {
      const bool covered = std::any_of(strip.tiles.begin(), strip.tiles.end(),
                                       [&](int t) { return holds(problem.tiles[t].heads, head); });
      if (!covered) continue;
      for (int64_t row = strip.rows.begin; row < strip.rows.end; row += rows_per_item) {
        ForwardItem item{&strip, intersect(strip.rows, {row, row + rows_per_item}), head, 0};
        for (const int t : strip.tiles) {
          const AttentionTile& tile = problem.tiles[t];
          const Range q{item.rows.begin + q_shift(tile), item.rows.end + q_shift(tile)};
          if (holds(tile.heads, head)) item.pairs += area(q, tile.kv, problem.mask);
        }
        items.push_back(item);
      }
    }
  }
  if (problem.threads > 1)
    std::stable_sort(items.begin(), items.end(),
                     [](const ForwardItem& a, const ForwardItem& b) { return a.pairs > b.pairs; });
  return items;
}

}  // namespace counterpoise
