// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "counterpoise/validate.h"
#include "counterpoise/windows.h"

namespace counterpoise {

// The closed-form laws against drawing: windows cut from documents of `lengths`, costing their unmasked
// pairs.
struct LawValidation {
  std::string lengths = "preset:wlbllm_mix";
  PackOptions pack{PackPolicy::kConcat, LongDocuments::kSplit, 8192, 64};
  int64_t windows = 100000;                 // whose costs are the distribution that is drawn from
  int64_t steps = 100000;                   // drawn, at least 1,000 (kUsage)
  std::vector<int64_t> cp{1, 2, 4, 8, 16};  // windows per group, ascending
  std::vector<int64_t> groups{8, 64};       // ascending
  uint64_t seed = 1;
  int threads = 0;  // 0: all cores; the numbers are the same for any value
};

// Parts, one row per CP and number of groups, every error judged against the standard error of the draw
// (predicted within 4.5 of them, beyond what the law's own grids may be off, see docs/laws.md):
//   law, slowdown; law, max/mean; law, P(max/min < 2): each also within 1 % (of steps, for the share) where
//   so many
//     steps can tell 1 %
//   law, max/min p50 and p90; law, mean max/min: absent where a window can cost nothing, and not judged in
//     rows that are drawn to no better than 1 %
//   law, variance: the variance over a step's groups, relative to that of one window, is 1/CP
//   law, variance in stream order: the law corrected for neighbours, of 64 ranks, against `simulate` of
//     another stream: within 10 %
std::vector<ValidationPart> validate_laws(
    const LawValidation& options, const std::function<void(const std::string&, double)>& progress = {});

}  // namespace counterpoise
