// SPDX-License-Identifier: Apache-2.0
#include "lengths/weighted.h"

#include <algorithm>
#include <cmath>

namespace counterpoise {
namespace {

// Sums of decimal shares (0.07 * 100) overshoot whole numbers by an ulp or so.
constexpr double kRounding = 1e-12;

double size_of(const LengthBin& bin) {
  return static_cast<double>(bin.hi - bin.lo + 1);
}

}  // namespace

std::vector<LengthBin> ascending_bins(const Lengths& lengths) {
  if (lengths.corpus.empty()) return lengths.bins;
  std::vector<int64_t> sorted = lengths.corpus;
  std::ranges::sort(sorted);
  std::vector<LengthBin> bins;
  for (const int64_t length : sorted) {
    if (bins.empty() || bins.back().lo != length) bins.push_back({length, length, 0});
    bins.back().weight += 1;
  }
  return bins;
}

double total_weight(std::span<const LengthBin> bins) {
  double total = 0;
  for (const LengthBin& bin : bins) total += bin.weight;
  return total;
}

BinMoments moments_of(const LengthBin& bin) {
  // Central moments of n equally likely consecutive integers.
  const double n = size_of(bin);
  const double second = (n * n - 1) / 12;
  const double fourth = (n * n - 1) * (3 * n * n - 7) / 240;
  const double mean = static_cast<double>(bin.lo) + (n - 1) / 2;
  return {mean, second, mean * mean + second, 4 * mean * mean * second + fourth - second * second};
}

int64_t length_at(std::span<const LengthBin> bins, double mass) {
  double left = mass * (1 - kRounding);
  for (const LengthBin& bin : bins) {
    if (left <= bin.weight) {
      const double steps = std::ceil(left / bin.weight * size_of(bin));
      return bin.lo + std::max<int64_t>(0, static_cast<int64_t>(steps) - 1);
    }
    left -= bin.weight;
  }
  return bins.back().hi;
}

std::vector<LengthBin> longest_of(std::span<const LengthBin> bins, double mass) {
  std::vector<LengthBin> longest;
  for (auto bin = bins.rbegin(); bin != bins.rend() && mass > 0; ++bin) {
    LengthBin taken = *bin;
    if (mass < bin->weight) {
      const double kept = std::ceil(size_of(*bin) * mass / bin->weight);
      taken.lo = bin->hi - std::max<int64_t>(0, static_cast<int64_t>(kept) - 1);
      taken.weight = mass;
    }
    mass -= taken.weight;
    longest.push_back(taken);
  }
  return longest;
}

}  // namespace counterpoise
