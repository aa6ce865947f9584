// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "counterpoise/law.h"
#include "counterpoise/simulate.h"

namespace counterpoise {

// The laws at one CP degree of a sweep, to stand beside CpResult.
struct LawRow {
  int64_t cp = 1;
  Law all;  // ranks / cp groups; mean and variance are of a group's time in a step, in the profile's unit
  std::optional<Law> fixed;  // 8 groups, whatever the CP; absent where a stream is shorter than such a step
  // Within-step variance and CV^2 over those at CP = 1, prices at this CP included, as simulate reports them;
  // absent with one group and where CP = 1 has no variance.
  std::optional<double> variance_ratio, cv2_ratio, fixed_variance_ratio;
};

struct LawSweep {
  std::vector<LawRow> rows;  // one per config.cp
  int64_t windows = 0;       // that the distribution of window costs was taken from
  PackAccount account;       // of those windows (grow: at the largest CP)
  // Windows per group that a slowdown target takes at 8, 64 and `ranks` groups, priced at CP = 1; null where
  // 4096 are too few. Empty without a target and where windows grow.
  struct Need {
    int64_t groups = 1;
    std::optional<int64_t> windows;
  };
  std::vector<Need> needs;
};

inline constexpr int64_t kLawWindows = int64_t{1} << 17;  // unless asked for, and documents are not tiny

// The laws for the configuration that `simulate` would run (its steps, sync and memory do not matter): cuts
// up to `windows` windows as the simulator does, prices them, and takes the laws of what they cost, with the
// correction for neighbours where windows stay in stream order. Without `windows`, kLawWindows or as many as
// 30 million documents fill, at least 8192. `target` > 1 asks for `needs`. Throws as simulate does.
LawSweep law_sweep(const Lengths& lengths, const PieceTime& piece_time, const SimulationConfig& config,
                   std::optional<double> target = {}, std::optional<int64_t> windows = {});

}  // namespace counterpoise
