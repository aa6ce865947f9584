// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>
#include <vector>

#include "counterpoise/attention.h"

namespace counterpoise {

// A run of q rows that all belong to the same tiles, so that their keys can be walked in one pass.
struct Strip {
  Range rows;  // of the q tensor
  std::vector<int> tiles;
};

// Cuts the q rows at every tile boundary; strips are disjoint and ascending. Tiles without work are dropped,
// tiles with an empty kv are kept, because their rows must still be written.
std::vector<Strip> strips_of(std::span<const AttentionTile> tiles);

// Rows of the next panel of up to three vectors, of `rest` rows. The last two share their rows where a panel
// of one vector would be left, whose tiles are slow.
inline int64_t panel_rows(int64_t rest, int64_t lanes) {
  return rest > 3 * lanes && rest <= 4 * lanes ? 2 * lanes : rest < 3 * lanes ? rest : 3 * lanes;
}

// Absolute position of row r in its document is r + q_shift(tile).
inline int64_t q_shift(const AttentionTile& tile) {
  return tile.q.begin - tile.q_row;
}
inline int64_t kv_shift(const AttentionTile& tile) {
  return tile.kv.begin - tile.kv_row;
}
inline bool holds(Range range, int64_t value) {
  return value >= range.begin && value < range.end;
}

}  // namespace counterpoise
