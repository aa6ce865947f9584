// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "sim/law_grid.h"

namespace counterpoise {
namespace {

constexpr int64_t kNodes = int64_t{1} << 16;
constexpr double kFineCells = 2000;    // a mean this many cells from 0 is resolved to 1 in 2000
constexpr double kNegligible = 1e-10;  // mass that no group count in use sees
constexpr int kMostLevels = 8;

double mass_below(const CostDistribution& mean, double x) {
  double sum = 0;
  for (size_t i = 0; i < mean.value.size() && mean.value[i] < x; ++i) sum += mean.mass[i];
  return sum;
}

// A grid for means in [floor, below]. Costs on it sum to at most c times its length, which the nodes hold, so
// nothing comes back.
Grid low_grid(double floor, double below, int64_t c) {
  Grid grid;
  grid.origin = floor;
  grid.nodes = kNodes;
  grid.end = (kNodes - 2) / c;
  grid.spacing = static_cast<double>(c) * (below - floor) / static_cast<double>(grid.end - 2);
  return grid;
}

CostDistribution up_to(const CostDistribution& window, double largest) {
  const auto end = std::upper_bound(window.value.begin(), window.value.end(), largest);
  const auto count = end - window.value.begin();
  return {{window.value.begin(), end}, {window.mass.begin(), window.mass.begin() + count}, {}};
}

// `low` below the last cell edge of `mean` at or below x, `mean` above.
CostDistribution splice(const CostDistribution& low, const CostDistribution& mean, double x) {
  auto from =
      static_cast<size_t>(std::lower_bound(mean.value.begin(), mean.value.end(), x) - mean.value.begin());
  while (mean.value[from] - mean.cell[from] / 2 > x) --from;
  const double edge = mean.value[from] - mean.cell[from] / 2;
  CostDistribution result;
  for (size_t i = 0; i < low.value.size() && low.value[i] - low.cell[i] / 2 < edge; ++i) {
    const double begin = low.value[i] - low.cell[i] / 2;
    const double width = std::min(low.cell[i], edge - begin);
    result.value.push_back(width < low.cell[i] ? begin + width / 2 : low.value[i]);
    result.mass.push_back(low.mass[i] * width / low.cell[i]);
    result.cell.push_back(width);
  }
  for (size_t i = from; i < mean.value.size(); ++i) {
    result.value.push_back(mean.value[i]);
    result.mass.push_back(mean.mass[i]);
    result.cell.push_back(mean.cell[i]);
  }
  return result;
}

}  // namespace

void refine_low_end(CostDistribution& mean, const CostDistribution& window, int64_t c) {
  const double floor = window.value.front();
  const auto count = static_cast<double>(c);
  if (4 * count * kFineCells > kNodes) return;  // many windows: no gain, and hardly any mass so low
  for (int level = 0; level < kMostLevels; ++level) {
    const double below = kFineCells * mean.cell.front();
    if (below <= floor || below >= mean.value.back() || mass_below(mean, below) < kNegligible) return;
    const CostDistribution part = up_to(window, count * below - (count - 1) * floor);
    mean = splice(convolve_on_grid(part, c, low_grid(floor, below, c)), mean, below);
  }
}

}  // namespace counterpoise
