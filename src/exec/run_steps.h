// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "counterpoise/execute.h"
#include "exec/check.h"

namespace counterpoise {

struct RunSettings {
  KernelOptions kernel;
  CheckKind check = CheckKind::kSingle;
  int64_t gradient_bytes = 0;  // float32, all-reduced at the end of every step
};

// What one rank reports of one step beside its spans.
struct RankUse {
  double cpu_seconds = 0;          // in attend and merge
  int64_t bytes_sent = 0;          // as the plan counts them
  int64_t bytes_in_place = 0;      // of those, read where they lie
  int64_t peak_bytes = 0;          // tensors and buffers
  int64_t process_peak_bytes = 0;  // resident memory of the whole process
  double attend_cpu_seconds = 0;   // in attend alone
};

struct StepRecord {
  Timeline timeline;
  std::vector<RankUse> ranks;
};

struct RunRecord {
  std::string communicator;
  int32_t ranks = 0;
  int32_t cores = 0;
  AttentionRun kernel;
  std::vector<StepRecord> steps;
  CheckResult check;  // worst over steps and groups

  bool crowded() const { return ranks * kernel.threads > cores; }
};

// Executes the plans one after another with random tensors, checks each step after its clock has stopped, and
// returns the same record at every rank. Collective over plan.dp() * plan.cp ranks.
RunRecord run_steps(const std::vector<StepPlan>& plans, Communicator& world, const RunSettings& settings);

}  // namespace counterpoise
