// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

#include "sim/law_distribution.h"

namespace counterpoise {

// Equally spaced sums of costs. Convolution is cyclic over `nodes`: sums outside [first, first + nodes) come
// back inside, so the grid must hold all but a negligible mass of them, or all that can reach [first, end).
struct Grid {
  double origin = 0;   // smallest cost
  double spacing = 0;  // of the sum, and of each cost
  int64_t nodes = 0;   // power of two
  int64_t first = 0;   // the sum lies in c * origin + spacing * [first, end)
  int64_t end = 0;     // at most first + nodes
  bool lattice = false;
};

// The distribution of the mean of c costs on the nodes first..end of their sum. Masses are not normalised, so
// that `window` may be a part of a distribution.
CostDistribution convolve_on_grid(const CostDistribution& window, int64_t c, const Grid& grid);

// Where nodes are coarse beside the means they stand for, which is the low end of small c and heavy tails,
// convolves once more on finer and finer grids only what can have means so low: ratios to the fastest group
// need it.
void refine_low_end(CostDistribution& mean, const CostDistribution& window, int64_t c);

}  // namespace counterpoise
