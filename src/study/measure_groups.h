// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <span>

#include "counterpoise/study.h"

namespace counterpoise {

using CallSeconds = std::function<double(std::span<const WorkShape>)>;

// Runs the kernel for the groups of as many steps as `budget_seconds` allows (at least two), all CP degrees
// and groups of a few steps in random order, so that a slow minute of the machine falls on all alike. A
// group's time is the median of config.repeats runs; every eighth is measured twice, for the repeat noise.
// Predictions come from `price`, which was frozen before.
Measurements measure_groups(const Lengths& lengths, const StudyConfig& config, double budget_seconds,
                            const CallSeconds& price, const Progress& progress);

}  // namespace counterpoise
