// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

namespace counterpoise {

// A mean over drawn steps.
struct SampledMean {
  double value = 0, standard_error = 0;
};

// What steps of `groups` groups of `windows` independent windows showed; a law computes the same.
struct SampledSteps {
  int64_t windows = 1, groups = 1, steps = 0;
  SampledMean slowdown;                          // sum of max / sum of mean, error by the delta method
  SampledMean max_over_mean;                     // a step without any cost counts as 1
  SampledMean share_below_2;                     // max / min < 2, strictly
  SampledMean within_step_variance;              // divisor groups - 1
  std::optional<SampledMean> max_over_min_mean;  // absent where a drawn group cost nothing
  std::vector<double> max_over_min;              // of every step, ascending; infinite with a group of no cost
};

// Draws groups.back() x windows.back() costs per step, with replacement; smaller layouts take the first of
// them, so that results of one call are not independent of each other. `windows` and `groups` ascend. One
// result per (windows, groups), windows outermost; the same for any number of threads.
std::vector<SampledSteps> sample_steps(std::span<const double> costs, std::span<const int64_t> windows,
                                       std::span<const int64_t> groups, int64_t steps, uint64_t seed,
                                       int threads = 0, const std::function<void(double)>& progress = {});

}  // namespace counterpoise
