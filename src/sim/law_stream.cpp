// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>

#include "counterpoise/error.h"
#include "counterpoise/law.h"
#include "sim/ties.h"

namespace counterpoise {
namespace {

// Steps x groups looked at for one law; beyond, offsets are spaced out.
constexpr int64_t kMostVisits = int64_t{1} << 24;

std::vector<double> running_means(std::span<const double> stream, int64_t windows) {
  const auto n = static_cast<size_t>(windows);
  std::vector<double> means(stream.size() - n + 1);
  for (size_t i = 0; i < means.size(); ++i) {
    double sum = 0;
    for (size_t k = 0; k < n; ++k) sum += stream[i + k];
    means[i] = sum / static_cast<double>(windows);
  }
  return means;
}

struct Steps {
  double sum_of_max = 0, sum_of_mean = 0, sum_of_max_over_mean = 0;
  std::vector<double> max_over_min;  // infinite where a group costs nothing

  double slowdown() const { return sum_of_mean > 0 ? sum_of_max / sum_of_mean : 1; }
};

// Every step whose groups are `stride` apart in `times`.
Steps steps_of(std::span<const double> times, int64_t groups, int64_t stride) {
  Steps steps;
  const int64_t offsets = static_cast<int64_t>(times.size()) - (groups - 1) * stride;
  const int64_t spacing = std::max<int64_t>(1, offsets * groups / kMostVisits);
  for (int64_t first = 0; first < offsets; first += spacing) {
    double most = 0, least = std::numeric_limits<double>::infinity(), sum = 0;
    for (int64_t g = 0; g < groups; ++g) {
      const double time = times[static_cast<size_t>(first + g * stride)];
      most = std::max(most, time);
      least = std::min(least, time);
      sum += time;
    }
    const double mean = sum / static_cast<double>(groups);
    steps.sum_of_max += most;
    steps.sum_of_mean += mean;
    steps.sum_of_max_over_mean += mean > 0 ? most / mean : 1;
    steps.max_over_min.push_back(least > 0 ? most / least : std::numeric_limits<double>::infinity());
  }
  return steps;
}

std::optional<double> finite(double value) {
  return std::isfinite(value) ? std::optional(value) : std::nullopt;
}

void set_ratios(Law& law, std::vector<double> ratios) {
  std::sort(ratios.begin(), ratios.end());
  const auto count = static_cast<double>(ratios.size());
  const auto at = [&](double q) { return ratios[static_cast<size_t>(std::ceil(q * count)) - 1]; };
  law.max_over_min_p50 = finite(at(0.5));
  law.max_over_min_p90 = finite(at(0.9));
  double sum = 0;
  for (const double ratio : ratios) sum += ratio;
  law.max_over_min_mean = finite(sum / count);
  const auto below = std::lower_bound(ratios.begin(), ratios.end(), kBelowTwo);
  law.share_below_2 = static_cast<double>(below - ratios.begin()) / count;
}

void set_variance(Law& law, std::span<const double> stream, double of_one) {
  const Autocorrelation correlation = autocorrelation(stream, law.windows * law.groups - 1);
  const double shrink = correlation.variance_of_mean(law.windows);
  law.variance = of_one * shrink;
  law.cv = law.mean > 0 ? std::sqrt(law.variance) / law.mean : 0;
  law.gaussian_slowdown = 1 + law.cv * std::sqrt(2 * std::log(static_cast<double>(law.groups)));
  law.effective_windows = correlation.effective_windows(law.windows);
  law.within_step_variance = law.variance;
  law.variance_ratio = shrink;
  if (law.groups < 2) return;
  const double within = correlation.within_step_variance(law.windows, law.groups);
  const double one_by_one = correlation.within_step_variance(1, law.windows * law.groups);
  law.within_step_variance = of_one * within;
  if (one_by_one > 0) law.variance_ratio = within / one_by_one;
}

}  // namespace

Law law_of_stream(std::span<const double> stream, int64_t windows, int64_t groups) {
  if (windows < 1 || groups < 1 || static_cast<int64_t>(stream.size()) / windows < groups) {
    throw_error(ErrorKind::kUsage, "a stream of {} windows has no step of {} groups of {} windows",
                stream.size(), groups, windows);
  }
  const CostDistribution window = cost_distribution(stream);
  const Steps steps = steps_of(running_means(stream, windows), groups, windows);
  Law law;
  law.windows = windows;
  law.groups = groups;
  law.mean = window.mean();
  law.slowdown = steps.slowdown();
  law.wait_share = 1 - 1 / law.slowdown;
  law.slowdown_micro_batch = steps_of(stream, groups, windows).slowdown();
  law.max_over_mean = steps.sum_of_max_over_mean / static_cast<double>(steps.max_over_min.size());
  set_ratios(law, steps.max_over_min);
  set_variance(law, stream, window.variance());
  return law;
}

}  // namespace counterpoise
