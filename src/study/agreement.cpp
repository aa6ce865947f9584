// SPDX-License-Identifier: Apache-2.0
#include "study/agreement.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace counterpoise {
namespace {

// Sums of consecutive windows: one value per step and group.
std::vector<double> group_sums(const std::vector<std::vector<double>>& steps, int64_t windows_per_group) {
  std::vector<double> sums;
  const auto per_group = static_cast<std::ptrdiff_t>(windows_per_group);
  for (const std::vector<double>& step : steps)
    for (auto begin = step.begin(); begin != step.end(); begin += per_group)
      sums.push_back(std::accumulate(begin, begin + per_group, 0.0));
  return sums;
}

double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

struct Errors {
  double median = 0, p90 = 0;
};

// Of |factor x predicted / measured - 1|; groups without measured time are left out.
Errors errors(const std::vector<double>& predicted, const std::vector<double>& measured, double factor) {
  std::vector<double> values;
  for (size_t i = 0; i < measured.size(); ++i)
    if (measured[i] > 0) values.push_back(std::abs(factor * predicted[i] / measured[i] - 1));
  if (values.empty()) return {};
  std::sort(values.begin(), values.end());
  return {values[values.size() / 2], values[values.size() * 9 / 10]};
}

std::optional<double> r_squared(const std::vector<double>& predicted, const std::vector<double>& measured) {
  const double centre = mean(measured);
  double residual = 0, total = 0;
  for (size_t i = 0; i < measured.size(); ++i) {
    residual += (measured[i] - predicted[i]) * (measured[i] - predicted[i]);
    total += (measured[i] - centre) * (measured[i] - centre);
  }
  return total > 0 ? std::optional(1 - residual / total) : std::nullopt;
}

// 1 - variance of the noise / variance of what was measured. |second / first - 1| of a normal error s in both
// has median 0.954 s.
std::optional<double> r_squared_limit(const std::vector<double>& measured,
                                      std::optional<double> repeat_noise) {
  if (!repeat_noise) return std::nullopt;
  const double centre = mean(measured), noise = *repeat_noise / 0.954 * centre;
  double total = 0;
  for (const double seconds : measured) total += (seconds - centre) * (seconds - centre);
  if (total <= 0) return std::nullopt;
  return std::max(0.0, 1 - noise * noise * static_cast<double>(measured.size()) / total);
}

struct Groups {
  std::vector<double> measured, predicted, squares;
};

// The factor that makes sums of squares fit best in the median of all groups: fitted to the measured times
// themselves, which is more than a naive predictor would be given.
double squares_factor(const std::vector<Groups>& columns) {
  std::vector<double> ratios;
  for (const Groups& groups : columns)
    for (size_t i = 0; i < groups.measured.size(); ++i)
      if (groups.squares[i] > 0) ratios.push_back(groups.measured[i] / groups.squares[i]);
  if (ratios.empty()) return 0;
  std::nth_element(ratios.begin(), ratios.begin() + static_cast<std::ptrdiff_t>(ratios.size() / 2),
                   ratios.end());
  return ratios[ratios.size() / 2];
}

}  // namespace

std::vector<Agreement> agreement(const std::vector<MeasuredCp>& results) {
  std::vector<Groups> columns;
  for (const MeasuredCp& r : results)
    columns.push_back({group_sums(r.measured, r.windows_per_group),
                       group_sums(r.predicted, r.windows_per_group),
                       group_sums(r.squares, r.windows_per_group)});
  const double factor = squares_factor(columns);
  const double base = mean(columns.front().predicted) / mean(columns.front().measured);
  std::vector<Agreement> all;
  for (const Groups& groups : columns) {
    Agreement& a = all.emplace_back();
    const Errors own = errors(groups.predicted, groups.measured, 1);
    a.median_error = own.median;
    a.p90_error = own.p90;
    a.r2 = r_squared(groups.predicted, groups.measured);
    const double centre = mean(groups.measured);
    a.r2_limit = r_squared_limit(groups.measured, results[all.size() - 1].repeat_noise);
    a.constant_error = errors(std::vector<double>(groups.measured.size(), centre), groups.measured, 1).median;
    a.squares_error = errors(groups.squares, groups.measured, factor).median;
    if (centre > 0 && base > 0) a.mean_ratio_error = mean(groups.predicted) / centre / base - 1;
  }
  return all;
}

}  // namespace counterpoise
