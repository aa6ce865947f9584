// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "counterpoise/study.h"

namespace counterpoise {

// Why variance may not fall as 1/CP, as far as the simulation's setting and window costs tell.
struct Suspects {
  bool growing_windows = false;
  std::optional<double> neighbour_correlation;  // of consecutive windows of a group, stream order only
  std::optional<double> tail_index;             // of window cost
};

// One judgement over the degrees of a sweep: the least favourable, in the order no, inconclusive, close,
// faster, yes (the largest CP where several agree). `ratios` holds variance ratios; `steps` steps made them.
struct RatioAtCp {
  int64_t cp = 1;
  std::optional<Estimate> ratio;
};
Judgement judge(const std::vector<RatioAtCp>& ratios, int64_t steps, const Suspects& suspects);

// The CP with the least mean time of the slowest group; within half a per cent the smaller CP wins.
int64_t choose_cp(const SimulationResult& result, Sync sync);

// Mean group time relative to CP = 1, minus one, per CP: what splitting costs in kernel efficiency. A group
// at CP c runs c windows at 1/c of their work each, so equal efficiency means equal time. Zero when windows
// grow in place.
std::vector<double> efficiency_cost(const SimulationResult& result);

}  // namespace counterpoise
