// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "counterpoise/simulate.h"

namespace counterpoise {

// What every step leaves behind: enough for all statistics, small enough for a million steps.
struct StepSeries {
  int64_t groups = 0;
  std::vector<double> mean, max, min, variance;
  std::vector<double> micro_batch, micro_batch_mean;  // groups meet after every window

  size_t steps() const { return mean.size(); }
  // `times` holds, per window of each group, its cost: groups x windows_per_group.
  void add_step(std::span<const double> times, int64_t windows_per_group);
  // The same with groups' own times: their windows in a row need not take the sum of each by itself.
  void add_step(std::span<const double> times, std::span<const double> group_times);
};

GroupStatistics statistics(const StepSeries& series);

// Ratio of the average variances (over squared average means when `relative`) of two series of the same run,
// with a jackknife interval over at most 40 blocks of steps, widened by sqrt(`repetition`) where the data
// repeats itself. Absent when a variance is missing or zero, or with fewer than 4 steps.
std::optional<Estimate> variance_ratio(const StepSeries& series, const StepSeries& base, bool relative,
                                       double repetition);

// Two-sided 95 % quantile of Student's t.
double student_t95(int64_t degrees_of_freedom);

}  // namespace counterpoise
