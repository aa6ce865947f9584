// SPDX-License-Identifier: Apache-2.0
#include "kernels/simd/kv_blocks.h"

#include <algorithm>

namespace counterpoise {

KvBlocks::KvBlocks(std::span<const AttentionTile> tiles, int64_t size) {
  std::vector<Range> used;
  for (const AttentionTile& tile : tiles)
    if (!tile.q.empty() && !tile.heads.empty() && !tile.kv.empty())
      used.push_back({tile.kv_row, tile.kv_row + tile.kv.size()});
  std::sort(used.begin(), used.end(), [](const Range& a, const Range& b) { return a.begin < b.begin; });
  int64_t end = INT64_MIN;  // where the tiles seen so far end
  for (size_t i = 0; i < used.size(); ++i) {
    end = std::max(end, used[i].end);
    const int64_t next = i + 1 < used.size() ? used[i + 1].begin : INT64_MAX;
    for (int64_t begin = used[i].begin; begin < std::min(end, next); begin += size) {
      blocks_.push_back({begin, std::min({end, next, begin + size})});
      offsets_.push_back(total_rows_);
      total_rows_ += blocks_.back().size();
    }
  }
}

std::pair<size_t, size_t> KvBlocks::covering(Range rows) const {
  const auto first = std::partition_point(blocks_.begin(), blocks_.end(),
                                          [&](Range block) { return block.end <= rows.begin; });
  const auto last =
      std::partition_point(first, blocks_.end(), [&](Range block) { return block.begin < rows.end; });
  return {static_cast<size_t>(first - blocks_.begin()), static_cast<size_t>(last - blocks_.begin())};
}

std::pair<size_t, size_t> KvBlocks::seen(const AttentionTile& tile, Range q_rows, const Mask& mask) const {
  const Range q{q_rows.begin + q_shift(tile), q_rows.end + q_shift(tile)};
  const Range keys = intersect(tile.kv, visible_keys(q, tile.kv.end, mask));
  if (keys.empty()) return {0, 0};
  return covering({keys.begin - kv_shift(tile), keys.end - kv_shift(tile)});
}

}  // namespace counterpoise
