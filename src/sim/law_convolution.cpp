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
#include <complex>
#include <kissfft/kissfft.hh>

#include "counterpoise/error.h"
#include "sim/law_distribution.h"

namespace counterpoise {
namespace {

constexpr int64_t kMostNodes = int64_t{1} << 19;
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

// All sums of c draws, one draw after another; sums within 1e-12 are the same sum, rounded differently.
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
      if (!sums.empty() && sum - sums.back().first <= 1e-12 * sum) {
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

struct Grid {
  double origin = 0;   // smallest cost
  double spacing = 0;  // of the sum, and of each cost
  int64_t nodes = 0;   // power of two
  int64_t first = 0;   // the sum lies in c * origin + spacing * [first, end)
  int64_t end = 0;     // at most first + nodes
  bool lattice = false;
};

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

std::vector<double> deposit(const CostDistribution& window, const Grid& grid) {
  std::vector<double> mass(static_cast<size_t>(grid.nodes), 0.0);
  const auto at = [&](int64_t node) -> double& { return mass[static_cast<size_t>(node & (grid.nodes - 1))]; };
  for (size_t i = 0; i < window.value.size(); ++i) {
    const double position = (window.value[i] - grid.origin) / grid.spacing;
    const double node = grid.lattice ? std::round(position) : std::floor(position);
    const double share = grid.lattice ? 0 : position - node;
    at(static_cast<int64_t>(node)) += window.mass[i] * (1 - share);
    at(static_cast<int64_t>(node) + 1) += window.mass[i] * share;
  }
  return mass;
}

// In place: the c-fold cyclic convolution of `mass` with itself. The way back uses that the discrete Hartley
// transform (real minus imaginary part of Fourier's) is its own inverse, so both ways are real transforms.
void convolve_with_itself(std::vector<double>& mass, int64_t c) {
  const size_t n = mass.size();
  const kissfft<double> transform(n / 2, false);
  std::vector<std::complex<double>> spectrum(n / 2);
  transform.transform_real(mass.data(), spectrum.data());
  mass[0] = power(spectrum[0].real(), c) / static_cast<double>(n);
  mass[n / 2] = power(spectrum[0].imag(), c) / static_cast<double>(n);
  for (size_t k = 1; k < n / 2; ++k) {
    std::complex<double> base = spectrum[k], result = 1;
    for (int64_t exponent = c; exponent > 0; exponent >>= 1, base *= base) {
      if (exponent & 1) result *= base;
    }
    mass[k] = (result.real() - result.imag()) / static_cast<double>(n);
    mass[n - k] = (result.real() + result.imag()) / static_cast<double>(n);
  }
  transform.transform_real(mass.data(), spectrum.data());
  mass[0] = spectrum[0].real();
  mass[n / 2] = spectrum[0].imag();
  for (size_t k = 1; k < n / 2; ++k) {
    mass[k] = spectrum[k].real() - spectrum[k].imag();
    mass[n - k] = spectrum[k].real() + spectrum[k].imag();
  }
}

// Nodes from the first to the last that hold any mass, as means; rounding noise of the transform is cut.
CostDistribution collect(const std::vector<double>& mass, const Grid& grid, int64_t c) {
  constexpr double kNoise = 1e-17;
  const auto at = [&](int64_t i) {
    const double m = mass[static_cast<size_t>(i & (grid.nodes - 1))];
    return m > kNoise ? m : 0.0;
  };
  int64_t begin = grid.first, end = grid.end;
  while (begin < end && at(begin) == 0) ++begin;
  while (end > begin && at(end - 1) == 0) --end;
  CostDistribution result;
  double total = 0;
  for (int64_t i = begin; i < end; ++i) {
    if (grid.lattice && at(i) == 0) continue;
    result.value.push_back(grid.origin + static_cast<double>(i) * grid.spacing / static_cast<double>(c));
    result.mass.push_back(at(i));
    total += at(i);
  }
  for (double& m : result.mass) m /= total;
  result.cell = grid.lattice ? 0 : grid.spacing / static_cast<double>(c);
  return result;
}

}  // namespace

CostDistribution mean_of_windows(const CostDistribution& window, int64_t windows) {
  CP_CHECK(windows >= 1 && window.cell == 0 && !window.value.empty());
  if (windows == 1 || window.value.size() == 1) return window;
  constexpr int64_t kEnumerated = 512;
  if (choose_at_most(windows, static_cast<int64_t>(window.value.size()) - 1, kEnumerated) <= kEnumerated) {
    return enumerate_means(window, windows);
  }
  const Grid grid = choose_grid(window, windows);
  std::vector<double> mass = deposit(window, grid);
  convolve_with_itself(mass, windows);
  return collect(mass, grid, windows);
}

}  // namespace counterpoise
