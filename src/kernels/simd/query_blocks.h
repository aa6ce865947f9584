// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "kernels/strips.h"

namespace counterpoise {

// The q rows of all strips in panels of `width` rows, and the panels in blocks of up to `panels_per_block`.
// Neither crosses a strip, so every row of one belongs to the same tiles.
struct QueryBlocks {
  struct Block {
    int64_t first_panel, panel_count;
    Range rows;
  };
  std::vector<Strip> strips;
  std::vector<Range> panels;         // rows
  std::vector<Block> blocks;         // ascending rows
  std::vector<int64_t> first_block;  // of each strip, and the total

  // lanes > 0: panels are of up to three vectors of so many lanes (panel_rows); 0: of width rows.
  QueryBlocks(std::span<const AttentionTile> tiles, int64_t width, int64_t panels_per_block,
              int64_t lanes = 0);
  // Blocks [first, last) that make up the rows of a tile.
  std::pair<int64_t, int64_t> blocks_of(const AttentionTile& tile) const;
};

}  // namespace counterpoise
