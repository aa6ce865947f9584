// SPDX-License-Identifier: Apache-2.0
#include "cost/blocks.h"

#include <algorithm>
#include <cmath>

#include "counterpoise/error.h"

namespace counterpoise {
namespace {

int64_t ceil_div(int64_t a, int64_t b) {
  return (a + b - 1) / b;
}

// d with d (d - 1) / 2 == pairs, or -1: the queries that miss keys where one causal diagonal cuts a corner.
int64_t triangle_rows(int64_t pairs) {
  const auto d = static_cast<int64_t>((1 + std::sqrt(1 + 8 * static_cast<double>(pairs))) / 2 + 1e-9);
  for (const int64_t candidate : {d - 1, d, d + 1})
    if (candidate >= 1 && candidate * (candidate - 1) / 2 == pairs) return candidate;
  return -1;
}

// A diagonal that leaves out the last d - 1 keys of the first row, d - 2 of the second, and so on.
BlockCounts count_triangle(const WorkShape& work, int64_t d, KernelTile tile) {
  BlockCounts counts;
  counts.groups = ceil_div(work.q_rows, tile.q);
  counts.longest = ceil_div(work.kv_rows, tile.kv);
  // q block i ends in row (i + 1) q, which sees kv - d + (i + 1) q keys until the diagonal has passed.
  const int64_t cut = std::min(d / tile.q, counts.groups);
  counts.blocks = floor_sum(cut, tile.kv, tile.q, work.kv_rows - d + tile.q + tile.kv - 1) +
                  (counts.groups - cut) * counts.longest;
  counts.masked = d > 1 ? std::min(ceil_div(d - 1, tile.q), counts.groups) : 0;
  return counts;
}

// Any other mask: each q block sees a band as wide as the mean row, widened by the block's own height.
BlockCounts count_band(const WorkShape& work, KernelTile tile) {
  BlockCounts counts;
  counts.groups = ceil_div(work.q_rows, tile.q);
  const int64_t mean_keys = ceil_div(work.area, work.q_rows);
  const int64_t keys = std::min(work.kv_rows, mean_keys + std::min(tile.q, work.q_rows) - 1);
  counts.longest = ceil_div(keys, tile.kv);
  counts.blocks = counts.groups * counts.longest;
  counts.masked = counts.groups;
  return counts;
}

}  // namespace

int64_t floor_sum(int64_t n, int64_t m, int64_t a, int64_t b) {
  if (n == 0) return 0;
  int64_t sum = n * (n - 1) / 2 * (a / m) + n * (b / m);
  a %= m;
  b %= m;
  const int64_t top = a * n + b;
  if (top < m) return sum;
  return sum + floor_sum(top / m, a, m, top % m);
}

BlockCounts count_blocks(const WorkShape& work, KernelTile tile) {
  CP_CHECK(tile.q >= 1 && tile.kv >= 1 && work.area <= work.q_rows * work.kv_rows);
  if (work.area <= 0) return {};
  const int64_t d = triangle_rows(work.q_rows * work.kv_rows - work.area);
  return d >= 1 && d <= work.q_rows && d <= work.kv_rows ? count_triangle(work, d, tile)
                                                         : count_band(work, tile);
}

}  // namespace counterpoise
