// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "counterpoise/simulate.h"

namespace counterpoise {

// Times of the same run at one CP degree, in the profile's unit.
struct SplitCosts {
  std::vector<double>
      windows;  // of each window by itself: from when all its ranks start to its last rank's end
  std::vector<double> groups;  // of each group: its windows in a row, without a barrier between them
  WithinGroups within;
};

// Groups take `per_group` windows each, one after another; `groups` of them make a step.
SplitCosts split_costs(std::span<const std::vector<int64_t>> windows, int64_t cp, int64_t per_group,
                       int64_t groups, const PlannedSplit& planned, int threads);

}  // namespace counterpoise
