// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <span>

#include "counterpoise/study.h"

namespace counterpoise {

// Runs the kernel for the groups of as many steps as `budget_seconds` allows (at least two), all CP degrees
// and groups of a few steps in random order (exec/repeated_timings.h). Without repeats each call is run once;
// else until config.repeats of its runs found the core as fast as usual, four times as many at most. Every
// eighth group is measured twice, for the repeat noise. Predictions come from `profile`, which was frozen
// before.
Measurements measure_groups(const Lengths& lengths, const StudyConfig& config, double budget_seconds,
                            const KernelProfile& profile, const Progress& progress);

}  // namespace counterpoise
