// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "counterpoise/plan.h"
#include "exec/run_steps.h"

namespace counterpoise {

struct RunReport {
  const RunRecord& run;
  const StepPlan& plan;  // any of the run: its layout
  CheckKind check;
  int64_t window = 0;                        // tokens
  std::optional<double> simulated_slowdown;  // of the same plans, with this machine's measured kernel prices
};

// Group times of every step: by the wall clock, or of CPU seconds where ranks outnumber cores, for then a
// rank's wall clock also counts the time in which another rank ran.
std::vector<std::vector<double>> measured_group_times(const RunRecord& run, int32_t cp);
// Always of CPU seconds: the slowest rank's in attend and merge.
std::vector<std::vector<double>> group_cpu_times(const RunRecord& run, int32_t cp);

std::string run_text(const RunReport& report);
nlohmann::ordered_json run_json(const RunReport& report);

}  // namespace counterpoise
