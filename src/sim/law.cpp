// SPDX-License-Identifier: Apache-2.0
#include "counterpoise/law.h"

#include <algorithm>
#include <cmath>

#include "counterpoise/error.h"
#include "sim/law_statistics.h"

namespace counterpoise {
namespace {

void check_layout(int64_t windows, int64_t groups) {
  if (windows < 1 || groups < 1) {
    throw_error(ErrorKind::kUsage, "a law needs at least 1 window and 1 group, not {} windows and {} groups",
                windows, groups);
  }
}

double slowdown_of(const CostDistribution& group, int64_t groups) {
  const double mean = group.mean();
  return mean > 0 ? std::max(1.0, expected_max(group, groups) / mean) : 1;
}

void add_max_over_min(Law& law, const CostDistribution& group) {
  const Cells cells = cells_of(group, 8192);
  law.share_below_2 = share_of_ratios_below(cells, law.groups, 2, false);
  law.max_over_min_p50 = quantile_of_max_over_min(cells, law.groups, 0.5);
  law.max_over_min_p90 = quantile_of_max_over_min(cells, law.groups, 0.9);
}

// `window` is one window's distribution, `group` that of the mean of `windows` of them.
Law assemble(const CostDistribution& window, const CostDistribution& group, int64_t windows, int64_t groups) {
  Law law;
  law.windows = windows;
  law.groups = groups;
  law.mean = window.mean();
  law.slowdown = slowdown_of(group, groups);
  law.wait_share = 1 - 1 / law.slowdown;
  law.slowdown_micro_batch = slowdown_of(window, groups);
  law.max_over_mean = expected_max_over_mean(cells_of(group, 4096), groups);
  add_max_over_min(law, group);
  if (window.value.front() > 0) law.max_over_min_mean = expected_max_over_min(cells_of(group, 1000), groups);
  return law;
}

void set_variance(Law& law, double variance) {
  law.variance = variance;
  law.cv = law.mean > 0 ? std::sqrt(variance) / law.mean : 0;
  law.gaussian_slowdown = 1 + law.cv * std::sqrt(2 * std::log(static_cast<double>(law.groups)));
}

// Fewest windows with `reached`, which once true stays true.
template <typename Reached>
std::optional<int64_t> fewest_windows(int64_t limit, const Reached& reached) {
  int64_t lo = 0, hi = 1;  // lo windows are too few
  while (!reached(hi)) {
    if (hi == limit) return std::nullopt;
    lo = hi;
    hi = std::min(2 * hi, limit);
  }
  while (hi - lo > 1) {
    const int64_t middle = lo + (hi - lo) / 2;
    (reached(middle) ? hi : lo) = middle;
  }
  return hi;
}

void check_target(double target) {
  if (!(target > 1)) throw_error(ErrorKind::kUsage, "a slowdown target must be above 1, not {}", target);
}

}  // namespace

Law law_of(const CostDistribution& window, int64_t windows, int64_t groups) {
  check_layout(windows, groups);
  return law_of(window, mean_of_windows(window, windows), windows, groups);
}

Law law_of(const CostDistribution& window, const CostDistribution& mean, int64_t windows, int64_t groups) {
  check_layout(windows, groups);
  Law law = assemble(window, mean, windows, groups);
  set_variance(law, window.variance() / static_cast<double>(windows));
  law.within_step_variance = law.variance;
  law.variance_ratio = 1 / static_cast<double>(windows);
  law.effective_windows = static_cast<double>(windows);
  return law;
}

Law law_of(std::span<const double> window_costs, int64_t windows, int64_t groups) {
  return law_of(cost_distribution(window_costs), windows, groups);
}

std::optional<int64_t> windows_for_slowdown(const CostDistribution& window, int64_t groups, double target,
                                            int64_t limit) {
  check_target(target);
  check_layout(limit, groups);
  return fewest_windows(limit,
                        [&](int64_t n) { return slowdown_of(mean_of_windows(window, n), groups) <= target; });
}

std::optional<int64_t> windows_for_slowdown_of_stream(std::span<const double> stream, int64_t groups,
                                                      double target, int64_t limit) {
  check_target(target);
  limit = std::min(limit, static_cast<int64_t>(stream.size()));
  check_layout(limit, groups);
  return fewest_windows(
      limit, [&](int64_t n) { return slowdown_of(mean_of_neighbours(stream, n), groups) <= target; });
}

std::optional<double> tail_index(std::span<const double> values) {
  std::vector<double> sorted;
  std::copy_if(values.begin(), values.end(), std::back_inserter(sorted), [](double x) { return x > 0; });
  const size_t k = std::min(std::max(sorted.size() / 100, size_t{20}), sorted.size() / 2);
  if (k < 10) return std::nullopt;
  std::sort(sorted.begin(), sorted.end(), std::greater<>());
  double sum = 0;
  for (size_t i = 0; i < k; ++i) sum += std::log(sorted[i] / sorted[k]);
  if (sum <= 0) return std::nullopt;
  return static_cast<double>(k) / sum;
}

}  // namespace counterpoise
