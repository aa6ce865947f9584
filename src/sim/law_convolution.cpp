// SPDX-License-Identifier: Apache-2.0
// The distribution of the mean of c independent costs.
//
// A cost with few values gives few sums: they are enumerated. Otherwise the costs are put on a lattice (their
// own, where they have a coarse one), each split between its two neighbours so that the mean is kept, and the
// c-fold convolution is a power of the Fourier transform. The transform is cyclic, so only the range the sum
// can be in, up to 1e-14 of its mass by Chernoff's bound, needs room; a heavy tail costs nodes, not accuracy.
#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

#include "counterpoise/error.h"
#include "sim/law_grid.h"
#include "sim/ties.h"

namespace counterpoise {
namespace {

constexpr int64_t kMostNodes = int64_t{1} << 18;
constexpr int64_t kFewestNodes = int64_t{1} << 14;
constexpr double kLogMassOutside = 32;  // e^-32 = 1e-14

struct Interval {
  double lo = 0, hi = 0;
};

// Binomial(n + k, k), or `limit` + 1 where larger.
int64_t choose_at_most(int64_t n, int64_t k, int64_t limit) {
  double result = 1;
  for (int64_t i = 1; i <= std::min(n, k); ++i) {
    result *= static_cast<double>(n + k - std::min(n, k) + i) / static_cast<double>(i);
    if (result > static_cast<double>(limit)) return limit + 1;
  }
  return std::llround(result);
}

// All sums of c draws, one draw after another; sums within kTie are the same sum, rounded differently.
CostDistribution enumerate_means(const CostDistribution& window, int64_t c) {
  std::vector<std::pair<double, double>> sums{{0, 1}}, next;
  for (int64_t draw = 0; draw < c; ++draw) {
    next.clear();
    for (const auto& [sum, mass] : sums) {
      for (size_t i = 0; i < window.value.size(); ++i) {
        next.emplace_back(sum + window.value[i], mass * window.mass[i]);
      }
    }
    std::sort(next.begin(), next.end());
    sums.clear();
    for (const auto& [sum, mass] : next) {
      if (!sums.empty() && sum - sums.back().first <= kTie * sum) {
        sums.back().second += mass;
      } else {
        sums.emplace_back(sum, mass);
      }
    }
  }
  CostDistribution result;
  for (const auto& [sum, mass] : sums) {
    result.value.push_back(sum / static_cast<double>(c));
    result.mass.push_back(mass);
  }
  return result;
}

// log E[e^(s (X - shift))], whatever the size of s.
double log_moment(const Cells& cells, double s, double shift) {
  const double top = s * ((s > 0 ? cells.value.back() : cells.value.front()) - shift);
  double sum = 0;
  for (size_t k = 0; k < cells.size(); ++k) {
    sum += cells.mass[k] * std::exp(s * (cells.value[k] - shift) - top);
  }
  return top + std::log(sum);
}

// Where the sum of c costs lies but for e^-32 on each side: the best of Chernoff's bounds over a grid of s.
Interval range_of_sum(const CostDistribution& window, int64_t c, double mean, double deviation) {
  const Cells cells = cells_of(window, 2048);
  const auto n = static_cast<double>(c);
  Interval range{n * window.value.front(), n * window.value.back()};
  const double span = window.value.back() - window.value.front();
  // The bound's best s is near sqrt(2 * 32 / c) / deviation for light tails and a few tens / span for heavy
  // ones.
  const double last = 100 / deviation;
  for (double s = 0.1 / (span * n); s < last; s *= 1.5) {
    range.hi = std::min(range.hi, n * mean + (n * log_moment(cells, s, mean) + kLogMassOutside) / s);
    range.lo = std::max(range.lo, n * mean - (n * log_moment(cells, -s, mean) + kLogMassOutside) / s);
  }
  return range;
}

// The spacing whose multiples (from the smallest value) all values are, or 0 where the sum's range would
// take more nodes than there may be. Euclid's algorithm on reals, to 1e-9 of the spread.
double lattice_spacing(const CostDistribution& window, double range) {
  const double span = window.value.back() - window.value.front();
  const double coarsest = range / static_cast<double>(kMostNodes - 4);
  const double noise = 1e-9 * span;
  double spacing = span;
  for (const double value : window.value) {
    double rest = value - window.value.front();
    while (rest > noise) {
      const double left = std::fmod(spacing, rest);
      spacing = rest;
      rest = spacing - left < noise ? 0 : left;
    }
    if (spacing < std::max(coarsest, 100 * noise)) return 0;
  }
  return span / std::round(span / spacing);
}

Grid choose_grid(const CostDistribution& window, int64_t c) {
  const double deviation = std::sqrt(window.variance());
  const double mean = window.mean();
  const Interval range = range_of_sum(window, c, mean, deviation);
  const double width = range.hi - range.lo;
  Grid grid;
  grid.origin = window.value.front();
  grid.spacing = lattice_spacing(window, width);
  grid.lattice = grid.spacing > 0;
  if (!grid.lattice) {
    // Splitting adds at most spacing^2 / 4 to the variance: 1e-4 of it here; and ratios of times need a grid
    // that is fine beside the mean.
    const double wanted = std::min(0.02 * deviation, 1e-4 * static_cast<double>(c) * mean);
    const double nodes = std::clamp(static_cast<double>(std::bit_ceil(static_cast<uint64_t>(width / wanted))),
                                    static_cast<double>(kFewestNodes), static_cast<double>(kMostNodes));
    // The largest cost falls on a node: windows of one cut document are an atom there.
    const double span = window.value.back() - grid.origin;
    grid.spacing = span / std::floor(span / width * (nodes - 4));
  }
  const double start = (range.lo - static_cast<double>(c) * grid.origin) / grid.spacing;
  grid.first = std::max(int64_t{0}, static_cast<int64_t>(std::floor(start)) - 1);
  grid.nodes = static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(width / grid.spacing) + 4));
  const double largest = static_cast<double>(c) * (window.value.back() - grid.origin) / grid.spacing;
  grid.end = std::min(grid.first + grid.nodes, static_cast<int64_t>(std::llround(largest)) + 1);
  return grid;
}

CostDistribution normalised(CostDistribution distribution) {
  const double total = std::accumulate(distribution.mass.begin(), distribution.mass.end(), 0.0);
  for (double& mass : distribution.mass) mass /= total;
  return distribution;
}

// Splicing in a finer low end moves the mean by 1e-5 of itself at most; the unit takes that back.
void keep_mean(CostDistribution& distribution, double mean) {
  const double factor = mean / distribution.mean();
  for (double& value : distribution.value) value *= factor;
  for (double& cell : distribution.cell) cell *= factor;
}

}  // namespace

CostDistribution mean_of_windows(const CostDistribution& window, int64_t windows) {
  CP_CHECK(windows >= 1 && window.cell.empty() && !window.value.empty());
  if (windows == 1 || window.value.size() == 1) return window;
  constexpr int64_t kEnumerated = 512;
  if (choose_at_most(windows, static_cast<int64_t>(window.value.size()) - 1, kEnumerated) <= kEnumerated) {
    return enumerate_means(window, windows);
  }
  // Costs that differ by rounding only are one cost.
  const double center = window.mean();
  if (std::sqrt(window.variance()) <= kTie * center) return {{center}, {1}, {}};
  const Grid grid = choose_grid(window, windows);
  CostDistribution mean = convolve_on_grid(window, windows, grid);
  if (grid.lattice) return normalised(std::move(mean));
  refine_low_end(mean, window, windows);
  mean = normalised(std::move(mean));
  keep_mean(mean, center);
  return mean;
}

}  // namespace counterpoise
