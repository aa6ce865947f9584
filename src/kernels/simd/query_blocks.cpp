// SPDX-License-Identifier: Apache-2.0
#include "kernels/simd/query_blocks.h"

#include <algorithm>

namespace counterpoise {

QueryBlocks::QueryBlocks(std::span<const AttentionTile> tiles, int64_t width, int64_t panels_per_block,
                         int64_t lanes)
    : strips(strips_of(tiles)) {
  for (const Strip& strip : strips) {
    const int64_t block_rows = width * panels_per_block;
    first_block.push_back(static_cast<int64_t>(blocks.size()));
    for (int64_t row = strip.rows.begin; row < strip.rows.end; row += block_rows) {
      const Range rows = intersect(strip.rows, {row, row + block_rows});
      const int64_t first_panel = static_cast<int64_t>(panels.size());
      for (int64_t i = rows.begin; i < rows.end; i = panels.back().end) {
        const int64_t size = lanes > 0 ? panel_rows(rows.end - i, lanes) : width;
        panels.push_back(intersect(rows, {i, i + size}));
      }
      blocks.push_back({first_panel, static_cast<int64_t>(panels.size()) - first_panel, rows});
    }
  }
  first_block.push_back(static_cast<int64_t>(blocks.size()));
}

std::pair<int64_t, int64_t> QueryBlocks::blocks_of(const AttentionTile& tile) const {
  const int64_t begin = tile.q_row, end = tile.q_row + tile.q.size();
  const auto first = std::partition_point(blocks.begin(), blocks.end(),
                                          [&](const Block& b) { return b.rows.begin < begin; });
  const auto last =
      std::partition_point(first, blocks.end(), [&](const Block& b) { return b.rows.begin < end; });
  return {first - blocks.begin(), last - blocks.begin()};
}

}  // namespace counterpoise
