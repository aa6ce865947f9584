// SPDX-License-Identifier: Apache-2.0
#include "kernels/simd/independent_tiles.h"

#include <algorithm>

namespace counterpoise {

std::vector<std::span<const AttentionTile>> independent_tiles(
    std::span<const AttentionTile> tiles, int64_t enough,
    const std::function<int64_t(const AttentionTile&)>& weight) {
  // The first rows of q and kv that a tile from i on touches.
  struct Rows {
    int64_t q = INT64_MAX, kv = INT64_MAX;
  };
  std::vector<Rows> first(tiles.size() + 1);
  for (size_t i = tiles.size(); i-- > 0;)
    first[i] = {std::min(first[i + 1].q, tiles[i].q_row), std::min(first[i + 1].kv, tiles[i].kv_row)};

  std::vector<std::span<const AttentionTile>> batches;
  size_t begin = 0;
  int64_t q_end = INT64_MIN, kv_end = INT64_MIN, sum = 0;
  for (size_t i = 0; i < tiles.size(); ++i) {
    sum += weight(tiles[i]);
    q_end = std::max(q_end, tiles[i].q_row + tiles[i].q.size());
    kv_end = std::max(kv_end, tiles[i].kv_row + tiles[i].kv.size());
    const bool apart = first[i + 1].q >= q_end && first[i + 1].kv >= kv_end;
    if (i + 1 < tiles.size() && !(apart && sum >= enough)) continue;
    batches.push_back(tiles.subspan(begin, i + 1 - begin));
    begin = i + 1;
    sum = 0;
  }
  return batches;
}

}  // namespace counterpoise
