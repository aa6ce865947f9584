// SPDX-License-Identifier: Apache-2.0
#include "counterpoise/cost_model.h"
#include "counterpoise/error.h"

namespace counterpoise {

WorkShape causal_share(int64_t q_rows, int64_t kv_rows, const CostShape& shape) {
  CP_CHECK(q_rows >= 0 && kv_rows >= q_rows);
  return {q_rows, kv_rows, q_rows * kv_rows - q_rows * (q_rows - 1) / 2, shape, -1};
}

std::vector<WorkShape> zigzag_share(int64_t length, int64_t cp, int64_t rank, const CostShape& shape) {
  CP_CHECK(length >= 0 && cp >= 1 && rank >= 0 && rank < cp);
  const int64_t chunks = 2 * cp;
  // The first length % chunks chunks hold one token more.
  const auto begin = [&](int64_t i) { return length / chunks * i + std::min(i, length % chunks); };
  std::vector<WorkShape> tiles;
  const auto add = [&](int64_t from, int64_t to) {
    if (to > from) tiles.push_back(causal_share(to - from, to, shape));
  };
  const int64_t low = rank, high = chunks - 1 - rank;
  if (high == low + 1) {
    add(begin(low), begin(high + 1));
  } else {
    add(begin(low), begin(low + 1));
    add(begin(high), begin(high + 1));
    if (tiles.size() == 2) tiles[1].new_kv_rows = tiles[1].kv_rows - tiles[0].kv_rows;
  }
  return tiles;
}

}  // namespace counterpoise
