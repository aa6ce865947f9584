// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "counterpoise/document_stream.h"
#include "counterpoise/plan.h"
#include "counterpoise/windows.h"

namespace counterpoise {

// Which windows the groups of each step get.
struct RunWindows {
  int64_t steps = 1;
  int32_t dp = 1;
  int64_t windows_per_group = 1;
  PackOptions pack;
  DocumentOrder order = DocumentOrder::kSample;
  bool shuffle =
      true;  // the windows of the whole run, as Megatron-LM's shuffle index does; else stream order
  uint64_t seed = 1;
};

// One plan per step; `request` gives everything but the documents. Fewer steps where a corpus ends early.
// Throws kBadInput when there are not even windows for one step.
std::vector<StepPlan> plan_run(const Lengths& lengths, const RunWindows& windows, PlanRequest request);

}  // namespace counterpoise
