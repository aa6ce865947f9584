// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

#include "counterpoise/attention.h"
#include "counterpoise/cost_model.h"
#include "counterpoise/plan.h"
#include "counterpoise/scheme.h"
#include "counterpoise/shard.h"

namespace counterpoise {

// One kernel call, as the kernel and as the cost model see it.
struct TileCall {
  std::vector<AttentionTile> tiles;
  std::vector<WorkShape> shapes;
};

// Rank `rank`'s per-document zigzag share of packed documents, q and keys in the rows of the window.
TileCall zigzag_call(const std::vector<int64_t>& documents, int64_t cp, int64_t rank, const CostShape& shape);

// The plan of one window, forward, float32, causal.
StepPlan window_plan(const std::string& sharder, const std::string& scheme, int32_t cp,
                     const std::vector<int64_t>& documents, const HeadShape& heads);

// The forward kernel calls of one rank in the first window of a plan, as the cost model sees them: tiles of
// an attend op that read the same buffers are one call.
std::vector<std::vector<WorkShape>> attend_shapes(const StepPlan& plan, int32_t rank);

}  // namespace counterpoise
