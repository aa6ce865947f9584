// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "counterpoise/attention.h"
#include "counterpoise/validate.h"

namespace counterpoise {

// Measured group and rank times of this CPU against a profile measured first and frozen.
struct CpuValidation {
  std::string lengths = "preset:wlbllm_mix";
  int64_t window = 4096;
  double budget_seconds = 60;  // wall clock, calibrations included
  Isa isa = Isa::kAuto;        // of the kernel
  uint64_t seed = 1;
};
// Parts: one per CP = 1, 2, 4, 8 (group times: cp windows one after another, of each one rank's per-document
// zigzag share; one head of 64), then one over the plans of every sharder with every scheme and one per pair
// (four ranks as threads execute two windows of up to 1024 tokens, four query and two kv heads of 64; CPU
// seconds of each rank in its attend ops; a pair that is refused says why). Forward. Everything is timed
// several times in random order; a part above its threshold on a machine too noisy to tell is inconclusive.
std::vector<ValidationPart> validate_cpu(
    const CpuValidation& options, const std::function<void(const std::string&, double)>& progress = {});

}  // namespace counterpoise
