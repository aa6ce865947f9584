// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "counterpoise/law.h"
#include "counterpoise/simulate.h"

namespace counterpoise {

// Documents that a law's windows are cut from, at most: more take minutes.
constexpr double kMostLawDocuments = 1e9;

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

// The laws of windows that are priced already, one row per entry of `cp`, which begins with 1: what ratios
// are to. costs[j] holds what one rank's share of each window costs at cp[j], in stream order where config
// says so, of one step at least. Reads ranks, regime, window_order and threads of `config`.
std::vector<LawRow> law_rows(std::span<const int64_t> cp, std::vector<std::vector<double>> costs,
                             const SimulationConfig& config);

// The laws for the configuration that `simulate` would run (its steps, sync and memory do not matter): cuts
// up to `windows` windows as the simulator does, prices them, and takes the laws of what they cost, with the
// correction for neighbours where windows stay in stream order. Without `windows`, kLawWindows or as many as
// 30 million documents fill, at least 8192. `target` > 1 asks for `needs`. Throws as simulate does.
LawSweep law_sweep(const Lengths& lengths, const PieceTime& piece_time, const SimulationConfig& config,
                   std::optional<double> target = {}, std::optional<int64_t> windows = {});

}  // namespace counterpoise
