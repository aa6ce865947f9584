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

// Items of a strip. One thread does not leave a few rows to an item of their own, which would read all keys
// for them alone; several threads want many items.
int64_t item_count(int64_t panels, int64_t panels_per_item, int threads) {
  const int64_t whole = panels / panels_per_item, left = panels % panels_per_item;
  const bool shared_out = threads == 1 && whole > 0 &&
                          left <= whole * (kMaxPanelsPerItem - panels_per_item) &&
                          2 * left <= panels_per_item;
  return shared_out || left == 0 ? whole : whole + 1;
}

}  // namespace

std::vector<ForwardItem> forward_items(const AttentionProblem& problem, const std::vector<Strip>& strips,
                                       int64_t width) {
  std::vector<ForwardItem> items;
  for (const Strip& strip : strips) {
    const int64_t panels = (strip.rows.size() + width - 1) / width;
    const int64_t count = item_count(panels, panels_per_item(strip.rows, problem.shape), problem.threads);
    for (int64_t head = 0; head < problem.shape.heads; ++head) {
      const bool covered = std::any_of(strip.tiles.begin(), strip.tiles.end(),
                                       [&](int t) { return holds(problem.tiles[t].heads, head); });
      if (!covered) continue;
      for (int64_t i = 0; i < count; ++i) {
        const Range part{strip.rows.begin + panels * i / count * width,
                         strip.rows.begin + panels * (i + 1) / count * width};
        ForwardItem item{&strip, intersect(strip.rows, part), head, 0};
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
