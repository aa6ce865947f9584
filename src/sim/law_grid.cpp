// SPDX-License-Identifier: Apache-2.0
#include "sim/law_grid.h"

#include <cmath>
#include <complex>
#include <kissfft/kissfft.hh>

namespace counterpoise {
namespace {

// Each cost on its node, or split between the two around it so that the mean is kept.
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
  for (int64_t i = begin; i < end; ++i) {
    if (grid.lattice && at(i) == 0) continue;
    result.value.push_back(grid.origin + static_cast<double>(i) * grid.spacing / static_cast<double>(c));
    result.mass.push_back(at(i));
  }
  if (!grid.lattice) result.cell.assign(result.value.size(), grid.spacing / static_cast<double>(c));
  return result;
}

}  // namespace

CostDistribution convolve_on_grid(const CostDistribution& window, int64_t c, const Grid& grid) {
  std::vector<double> mass = deposit(window, grid);
  convolve_with_itself(mass, c);
  return collect(mass, grid, c);
}

}  // namespace counterpoise
