// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "counterpoise/cost_model.h"

namespace counterpoise {

// sum over i in [0, n) of floor((a i + b) / m); n, a, b >= 0, m >= 1. Euclid's algorithm, O(log).
int64_t floor_sum(int64_t n, int64_t m, int64_t a, int64_t b);

// What the kernel visits for one head of a tile, in units of KernelTile.
struct BlockCounts {
  int64_t groups = 0;   // q blocks
  int64_t blocks = 0;   // kv blocks, summed over q blocks
  int64_t longest = 0;  // kv blocks of the longest q block
  int64_t masked = 0;   // q blocks that the mask's edge crosses
};
BlockCounts count_blocks(const WorkShape& work, KernelTile tile);

}  // namespace counterpoise
