// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>

#include "counterpoise/metrics.h"

namespace counterpoise {
namespace {

TEST(Metrics, OfFourLoads) {
  const std::vector<double> loads{1, 2, 2, 3};
  EXPECT_DOUBLE_EQ(*imbalance(loads), 1.5);
  EXPECT_DOUBLE_EQ(*spread(loads), 3);
  EXPECT_DOUBLE_EQ(*coefficient_of_variation(loads), std::sqrt(2.0 / 3) / 2);
}

TEST(Metrics, UndefinedOnesAreAbsent) {
  EXPECT_FALSE(imbalance({}));
  EXPECT_FALSE(imbalance(std::vector<double>{0, 0}));
  EXPECT_FALSE(spread(std::vector<double>{0, 1}));
  EXPECT_FALSE(coefficient_of_variation(std::vector<double>{1}));
  EXPECT_FALSE(slowdown({}));
  EXPECT_FALSE(exposed_comm({}));
}

// Two groups of two ranks. Rank 1 computes 2 s, waits 1 s, computes 1 s; rank 2 computes 6 s.
Timeline example() {
  Timeline timeline{4, {}};
  const auto add = [&](SpanKind kind, int32_t rank, double begin, double end) {
    timeline.spans.push_back({kind, false, rank, -1, 0, 0, begin, end});
  };
  add(SpanKind::kAttend, 1, 0, 2);
  add(SpanKind::kTransfer, 1, 0, 2.5);
  add(SpanKind::kWait, 1, 2, 3);
  add(SpanKind::kMerge, 1, 3, 4);
  add(SpanKind::kAttend, 2, 0, 6);
  for (const int32_t rank : {0, 1, 2, 3}) add(SpanKind::kReduce, rank, rank == 1 ? 4 : rank == 2 ? 6 : 1, 7);
  return timeline;
}

TEST(Metrics, OfATimeline) {
  const std::vector<RankTime> ranks = rank_times(example());
  EXPECT_DOUBLE_EQ(ranks[1].compute, 3);
  EXPECT_DOUBLE_EQ(ranks[1].wait, 1);
  EXPECT_DOUBLE_EQ(ranks[1].transfer, 2.5);
  EXPECT_DOUBLE_EQ(ranks[1].before_reduce, 4);
  EXPECT_DOUBLE_EQ(ranks[1].reduce, 3);
  EXPECT_DOUBLE_EQ(*exposed_comm(ranks), 1.0 / 12);
  EXPECT_EQ(group_times(example(), 2), (std::vector<double>{4, 6}));
  EXPECT_EQ(group_times(example(), 4), (std::vector<double>{6}));
}

TEST(Metrics, SlowdownIsSumOfSlowestOverSumOfMeans) {
  EXPECT_DOUBLE_EQ(*slowdown(std::vector<std::vector<double>>{{4, 6}, {3, 1}}), 9.0 / 7);
  EXPECT_DOUBLE_EQ(*slowdown(std::vector<std::vector<double>>{{4}, {3}}), 1);
}

}  // namespace
}  // namespace counterpoise
