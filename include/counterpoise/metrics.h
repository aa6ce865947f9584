// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "counterpoise/timeline.h"

namespace counterpoise {

// One definition each, for loads of any unit (say which: tokens, area, seconds). Empty where undefined: no
// loads, or a zero in the denominator.
std::optional<double> imbalance(std::span<const double> loads);  // max / mean
std::optional<double> spread(std::span<const double> loads);     // max / min
std::optional<double> coefficient_of_variation(
    std::span<const double> loads);  // standard deviation (n - 1) / mean

// Where one rank's time went in a step; seconds.
struct RankTime {
  double compute = 0;        // in attend and merge ops
  double wait = 0;           // in wait ops: communication that compute did not hide
  double transfer = 0;       // its messages, port to arrival, whether hidden or not
  double before_reduce = 0;  // when it came to the gradient all-reduce
  double reduce = 0;         // in it: waiting for the slowest, then the sum
};
std::vector<RankTime> rank_times(const Timeline& timeline);

// When the last rank of each group (`cp` adjacent ranks) came to the all-reduce: the group's time.
std::vector<double> group_times(const Timeline& timeline, int32_t cp);

// Over steps of group times: sum of the slowest / sum of the means, the step time over that of a step in
// which no group is a straggler. 1 for a single group.
std::optional<double> slowdown(std::span<const std::vector<double>> steps);

// Share of all ranks' time before the all-reduce that they spent in waits.
std::optional<double> exposed_comm(std::span<const RankTime> ranks);

}  // namespace counterpoise
