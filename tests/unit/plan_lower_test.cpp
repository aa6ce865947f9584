// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "counterpoise/plan.h"

namespace counterpoise {
namespace {

StepPlan plan_of(std::vector<int64_t> lengths, int32_t cp, const char* sharder, const char* scheme) {
  PlanRequest request;
  request.groups.emplace_back().emplace_back();
  for (size_t i = 0; i < lengths.size(); ++i) {
    request.groups[0][0].push_back({static_cast<int64_t>(i), lengths[i]});
  }
  request.cp = cp;
  request.sharder = sharder;
  request.scheme = scheme;
  request.backward = true;
  return make_plan(request);
}

int64_t tile_area(const Pass& pass, int32_t rank) {
  int64_t sum = 0;
  for (const Tile& tile : pass.tiles) sum += tile.rank == rank ? area(tile.q, tile.kv, Mask::causal()) : 0;
  return sum;
}

TEST(PlanLower, RingOfTwoIsFourTilesPerRankInTheOrderOfTheSteps) {
  const StepPlan plan = plan_of({8}, 2, "zigzag", "ring");
  const WindowPlan& window = plan.groups[0].windows[0];
  EXPECT_EQ(tile_area(window.forward, 0), 18);
  EXPECT_EQ(tile_area(window.forward, 1), 18);
  std::vector<OpKind> kinds;
  for (const Op& op : window.forward.program(0)) kinds.push_back(op.kind);
  const std::vector<OpKind> expected{OpKind::kRecv, OpKind::kSend, OpKind::kAttend,
                                     OpKind::kWait, OpKind::kWait, OpKind::kAttend};
  EXPECT_EQ(kinds, expected);
}

TEST(PlanLower, BytesOfAMessageAreRowsTimesHeadsTimesPayload) {
  const StepPlan plan = plan_of({8}, 2, "contiguous", "all_gather");
  const Pass& forward = plan.groups[0].windows[0].forward;
  ASSERT_EQ(forward.transfers.size(), 2u);
  EXPECT_EQ(forward.transfers[0].bytes, 4 * (64 + 64) * 4);
}

}  // namespace
}  // namespace counterpoise
