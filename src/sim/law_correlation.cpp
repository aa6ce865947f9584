// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <complex>
#include <kissfft/kissfft.hh>

#include "counterpoise/error.h"
#include "counterpoise/law.h"

namespace counterpoise {
namespace {

std::vector<double> centered(std::span<const double> stream) {
  double mean = 0;
  for (const double x : stream) mean += x;
  mean /= static_cast<double>(stream.size());
  std::vector<double> result(stream.begin(), stream.end());
  for (double& x : result) x -= mean;
  return result;
}

// Sum over i of x_i x_{i+k} for k = 0..lags, by the power spectrum (Wiener and Khinchin). Zeros after the
// stream keep its end from meeting its beginning.
std::vector<double> lagged_products(std::vector<double> x, size_t lags) {
  const size_t n = std::bit_ceil(std::max(size_t{4}, x.size() + lags + 1));
  x.resize(n, 0.0);
  const kissfft<double> transform(n / 2, false);
  std::vector<std::complex<double>> spectrum(n / 2);
  transform.transform_real(x.data(), spectrum.data());
  const auto scale = 1 / static_cast<double>(n);
  x[0] = spectrum[0].real() * spectrum[0].real() * scale;
  x[n / 2] = spectrum[0].imag() * spectrum[0].imag() * scale;
  for (size_t k = 1; k < n / 2; ++k) x[k] = x[n - k] = std::norm(spectrum[k]) * scale;
  transform.transform_real(x.data(), spectrum.data());  // even and real: its own inverse
  std::vector<double> products(lags + 1);
  for (size_t k = 0; k <= lags; ++k) products[k] = spectrum[k].real();
  return products;
}

}  // namespace

Autocorrelation autocorrelation(std::span<const double> stream, int64_t lags) {
  CP_CHECK(!stream.empty() && lags >= 0);
  const auto most = std::min(static_cast<size_t>(lags), stream.size() - 1);
  const std::vector<double> products = lagged_products(centered(stream), most);
  Autocorrelation result;
  result.rho.assign(most + 1, 0.0);
  result.rho[0] = 1;
  double square = 0;
  for (const double x : stream) square += x * x;
  if (products[0] <= 1e-24 * square) return result;
  const auto n = static_cast<double>(stream.size());
  for (size_t k = 1; k <= most; ++k) {
    result.rho[k] = products[k] / (n - static_cast<double>(k)) / (products[0] / n);
  }
  return result;
}

double Autocorrelation::variance_of_mean(int64_t n) const {
  CP_CHECK(n >= 1);
  const auto count = static_cast<double>(n);
  double sum = 1;
  for (size_t k = 1; k < rho.size() && static_cast<int64_t>(k) < n; ++k) {
    sum += 2 * (1 - static_cast<double>(k) / count) * rho[k];
  }
  return sum / count;
}

double Autocorrelation::within_step_variance(int64_t windows, int64_t groups) const {
  CP_CHECK(groups >= 2);
  const auto g = static_cast<double>(groups);
  return g / (g - 1) * (variance_of_mean(windows) - variance_of_mean(groups * windows));
}

}  // namespace counterpoise
