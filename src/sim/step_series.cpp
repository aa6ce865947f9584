// SPDX-License-Identifier: Apache-2.0
#include "sim/step_series.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "counterpoise/error.h"
#include "sim/ties.h"

namespace counterpoise {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr size_t kBlocks = 40;

double total(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

// Linear interpolation between order statistics, as numpy.quantile; absent when it touches infinity.
std::optional<double> quantile(std::vector<double>& values, double p) {
  if (values.empty()) return std::nullopt;
  const double position = p * static_cast<double>(values.size() - 1);
  const size_t low = static_cast<size_t>(position);
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(low), values.end());
  const double a = values[low];
  const double fraction = position - static_cast<double>(low);
  const double b =
      fraction == 0 ? a
                    : *std::min_element(values.begin() + static_cast<std::ptrdiff_t>(low) + 1, values.end());
  if (!std::isfinite(a) || !std::isfinite(b)) return std::nullopt;
  return a + fraction * (b - a);
}

std::optional<double> finite_mean(std::span<const double> values) {
  const double mean = total(values) / static_cast<double>(values.size());
  return std::isfinite(mean) ? std::optional(mean) : std::nullopt;
}

SpreadStats spread(const StepSeries& series) {
  std::vector<double> ratio(series.steps());
  for (size_t s = 0; s < ratio.size(); ++s)
    ratio[s] = series.min[s] > 0 ? series.max[s] / series.min[s] : kInfinity;
  if (ratio.empty() || series.groups < 2) return {};
  const auto below = std::count_if(ratio.begin(), ratio.end(), [](double r) { return r < kBelowTwo; });
  SpreadStats stats;
  stats.mean = finite_mean(ratio);
  stats.share_below_2 = static_cast<double>(below) / static_cast<double>(ratio.size());
  stats.p50 = quantile(ratio, 0.5);
  stats.p90 = quantile(ratio, 0.9);
  return stats;
}

ImbalanceStats imbalance(const StepSeries& series) {
  std::vector<double> ratio(series.steps());
  for (size_t s = 0; s < ratio.size(); ++s)
    ratio[s] = series.mean[s] > 0 ? series.max[s] / series.mean[s] : kInfinity;
  if (ratio.empty()) return {};
  ImbalanceStats stats;
  stats.mean = finite_mean(ratio);
  stats.p50 = quantile(ratio, 0.5);
  stats.p90 = quantile(ratio, 0.9);
  return stats;
}

// The two sums of one block of steps from which a ratio is made.
struct BlockSum {
  double variance = 0, mean = 0, base_variance = 0, base_mean = 0;

  BlockSum operator-(const BlockSum& b) const {
    return {variance - b.variance, mean - b.mean, base_variance - b.base_variance, base_mean - b.base_mean};
  }
  double ratio(bool relative) const {
    const double plain = variance / base_variance;
    return relative ? plain * (base_mean * base_mean) / (mean * mean) : plain;
  }
};

// Steps and base steps may differ in number (fixed groups): each series is cut into the same number of
// blocks.
BlockSum block_sum(const StepSeries& series, const StepSeries& base, size_t block, size_t blocks) {
  auto part = [&](const std::vector<double>& values) {
    const size_t begin = values.size() * block / blocks, end = values.size() * (block + 1) / blocks;
    return total(std::span(values).subspan(begin, end - begin)) / static_cast<double>(values.size());
  };
  return {part(series.variance), part(series.mean), part(base.variance), part(base.mean)};
}

}  // namespace

void StepSeries::add_step(std::span<const double> times, int64_t windows_per_group) {
  const size_t c = static_cast<size_t>(windows_per_group);
  std::vector<double> sums(static_cast<size_t>(groups));
  CP_CHECK(times.size() == c * sums.size());
  for (size_t i = 0; i < sums.size(); ++i) sums[i] = total(times.subspan(i * c, c));
  add_step(times, sums);
}

void StepSeries::add_step(std::span<const double> times, std::span<const double> group_times) {
  const size_t g = static_cast<size_t>(groups), c = times.size() / g;
  CP_CHECK(group_times.size() == g && times.size() == c * g);
  double sum = 0, high = 0, low = kInfinity, squares = 0;
  for (size_t i = 0; i < g; ++i) {
    const double time = group_times[i];
    // Welford: no cancellation for nearly equal groups.
    const double before = i == 0 ? 0 : sum / static_cast<double>(i);
    sum += time;
    squares += (time - before) * (time - sum / static_cast<double>(i + 1));
    high = std::max(high, time);
    low = std::min(low, time);
  }
  double micro = 0, alone = 0;
  for (size_t i = 0; i < g; ++i) alone += total(times.subspan(i * c, c));
  for (size_t m = 0; m < c; ++m) {
    double slowest = 0;
    for (size_t i = 0; i < g; ++i) slowest = std::max(slowest, times[i * c + m]);
    micro += slowest;
  }
  mean.push_back(sum / static_cast<double>(g));
  max.push_back(high);
  min.push_back(low);
  variance.push_back(g > 1 ? squares / static_cast<double>(g - 1) : 0);
  micro_batch.push_back(micro);
  micro_batch_mean.push_back(alone / static_cast<double>(g));
}

std::optional<double> GroupStatistics::wait_share(Sync sync) const {
  const std::optional<double> value = slowdown(sync);
  return value ? std::optional(1 - 1 / *value) : std::nullopt;
}

GroupStatistics statistics(const StepSeries& series) {
  GroupStatistics result;
  result.groups = series.groups;
  result.steps = static_cast<int64_t>(series.steps());
  if (result.steps == 0) return result;
  const double steps = static_cast<double>(result.steps);
  const double means = total(series.mean);
  result.mean = means / steps;
  result.step_seconds = total(series.max) / steps;
  result.micro_batch_seconds = total(series.micro_batch) / steps;
  if (series.groups >= 2) result.variance = total(series.variance) / steps;
  if (means > 0) {
    if (result.variance) result.cv = std::sqrt(*result.variance) / result.mean;
    result.slowdown_step = total(series.max) / means;
    result.slowdown_micro_batch = total(series.micro_batch) / total(series.micro_batch_mean);
  }
  result.max_over_min = spread(series);
  result.max_over_mean = imbalance(series);
  return result;
}

std::optional<Estimate> variance_ratio(const StepSeries& series, const StepSeries& base, bool relative,
                                       double repetition) {
  const size_t blocks = std::min({kBlocks, series.steps(), base.steps()});
  if (blocks < 4 || series.groups < 2 || base.groups < 2) return std::nullopt;
  std::vector<BlockSum> sums(blocks);
  BlockSum all;
  for (size_t b = 0; b < blocks; ++b) {
    sums[b] = block_sum(series, base, b, blocks);
    all.variance += sums[b].variance;
    all.mean += sums[b].mean;
    all.base_variance += sums[b].base_variance;
    all.base_mean += sums[b].base_mean;
  }
  if (!(all.base_variance > 0) || !(all.mean > 0)) return std::nullopt;
  const double n = static_cast<double>(blocks);
  const double value = all.ratio(relative);
  double squares = 0;
  for (const BlockSum& sum : sums) {
    // Delete-one: the remaining blocks' share of steps scales numerator and denominator alike, up to block
    // sizes.
    const double deviation = (all - sum).ratio(relative) - value;
    squares += deviation * deviation;
  }
  const double error = std::sqrt((n - 1) / n * squares * repetition);
  const double half = student_t95(static_cast<int64_t>(blocks) - 1) * error;
  if (!std::isfinite(value) || !std::isfinite(half)) return std::nullopt;
  return Estimate{value, value - half, value + half};
}

double student_t95(int64_t degrees_of_freedom) {
  // Cornish-Fisher expansion around the normal quantile (Abramowitz and Stegun 26.7.5); exact table below 4.
  constexpr double kExact[] = {0, 12.706, 4.303, 3.182};
  if (degrees_of_freedom < 4) return kExact[std::max<int64_t>(1, degrees_of_freedom)];
  const double z = 1.959964, n = static_cast<double>(degrees_of_freedom);
  const double z3 = z * z * z, z5 = z3 * z * z, z7 = z5 * z * z;
  return z + (z3 + z) / (4 * n) + (5 * z5 + 16 * z3 + 3 * z) / (96 * n * n) +
         (3 * z7 + 19 * z5 + 17 * z3 - 15 * z) / (384 * n * n * n);
}

}  // namespace counterpoise
