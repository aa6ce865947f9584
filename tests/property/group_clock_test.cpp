// SPDX-License-Identifier: Apache-2.0
// The clock that makes no plan against simulate_plan of the plan that make_plan makes: equal to the last bit.
#include "counterpoise/group_clock.h"

#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <random>

#include "counterpoise/error.h"
#include "counterpoise/metrics.h"
#include "counterpoise/plan_loads.h"
#include "counterpoise/random.h"
#include "counterpoise/scheme.h"
#include "counterpoise/shard.h"
#include "counterpoise/simulate_plan.h"
#include "two_level_prices.h"

namespace counterpoise {
namespace {

LinearPriceList price_list() {
  return two_level_prices(3);
}

PlanRequest random_request(RandomStream& random, int32_t cp) {
  PlanRequest request;
  request.cp = cp;
  const Mask masks[] = {Mask::causal(), Mask::full(), Mask::sliding_window(9)};
  request.shape = {8, random.below(2) == 0 ? 2 : 8, 16, 24, 2, masks[random.below(3)]};
  request.shard_options.block = 1 + static_cast<int64_t>(random.below(20));
  request.backward = random.below(2) == 0;
  for (int group = 0; group < 2; ++group) {
    auto& windows = request.groups.emplace_back();
    for (int w = 0; w < 3; ++w) {
      auto& documents = windows.emplace_back();
      for (uint64_t i = random.below(6); i > 0; --i)
        documents.push_back({0, static_cast<int64_t>(random.below(random.below(2) == 0 ? 4 : 300))});
    }
  }
  return request;
}

GroupSplit split_of(const PlanRequest& request) {
  return {request.sharder,        request.scheme, request.shard_options,
          request.scheme_options, request.shape,  request.backward};
}

std::vector<RankClock> clocked(const GroupClock& clock, const PlanRequest& request, size_t group,
                               Messages messages) {
  std::vector<WindowWork> work;
  for (const auto& window : request.groups[group]) {
    std::vector<int64_t> lengths;
    for (const PlanDocument& document : window) lengths.push_back(document.length);
    work.push_back(clock.work(lengths));
  }
  return clock.run(work, static_cast<int32_t>(group) * request.cp, messages);
}

// Of the plan: times off the timeline, bytes off the transfers.
std::vector<RankClock> planned(const StepPlan& plan, const Prices& prices) {
  std::vector<RankClock> ranks;
  for (const RankTime& time : rank_times(simulate_plan(plan, prices)))
    ranks.push_back({time.before_reduce, time.compute, time.wait, 0});
  for (int32_t rank = 0; rank < static_cast<int32_t>(ranks.size()); ++rank) {
    for (const WindowPlan& window : plan.groups[static_cast<size_t>(rank / plan.cp)].windows) {
      const WindowLoads loads = loads_of(plan, window);
      const auto of_group = static_cast<size_t>(rank % plan.cp);
      ranks[static_cast<size_t>(rank)].sent += loads.forward[of_group].sent;
      if (!loads.backward.empty()) ranks[static_cast<size_t>(rank)].sent += loads.backward[of_group].sent;
    }
  }
  return ranks;
}

void expect_same(const PlanRequest& request, const StepPlan& plan, const LinearPriceList& list,
                 Messages messages) {
  const LinearPrices paid(price_list()), prices(list);
  const GroupClock clock(request.cp, split_of(request), paid);
  std::vector<RankClock> mine;
  for (size_t group = 0; group < request.groups.size(); ++group) {
    const std::vector<RankClock> ranks = clocked(clock, request, group, messages);
    mine.insert(mine.end(), ranks.begin(), ranks.end());
  }
  const std::vector<RankClock> expected = planned(plan, prices);
  ASSERT_EQ(mine.size(), expected.size());
  for (size_t rank = 0; rank < mine.size(); ++rank) {
    ASSERT_EQ(mine[rank].end, expected[rank].end) << "rank " << rank;
    ASSERT_EQ(mine[rank].compute, expected[rank].compute) << "rank " << rank;
    ASSERT_EQ(mine[rank].wait, expected[rank].wait) << "rank " << rank;
    ASSERT_EQ(mine[rank].sent, expected[rank].sent) << "rank " << rank;
  }
}

TEST(GroupClock, IsTheSimulatorsForEverySharderSchemeAndCp) {
  const uint64_t seed = std::random_device{}();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  RandomStream random(seed);
  LinearPriceList free = price_list();
  free.in_node = free.between_nodes = {0, std::numeric_limits<double>::infinity()};
  int same = 0;
  for (int32_t cp = 1; cp <= 8; ++cp) {
    for (const SharderInfo& sharder : sharders()) {
      for (const SchemeInfo& scheme : schemes()) {
        for (int repeat = 0; repeat < 3; ++repeat) {
          PlanRequest request = random_request(random, cp);
          request.sharder = sharder.name;
          request.scheme = scheme.name;
          SCOPED_TRACE(testing::Message() << sharder.name << " x " << scheme.name << " cp " << cp);
          const StepPlan plan = make_plan(request);  // 8 heads: no pair is refused up to cp 8
          expect_same(request, plan, price_list(), Messages::kPriced);
          expect_same(request, plan, free, Messages::kFree);
          if (HasFatalFailure()) return;
          ++same;
        }
      }
    }
  }
  EXPECT_EQ(same, 8 * 3 * static_cast<int>(sharders().size() * schemes().size()));
}

TEST(GroupClock, RanksHoldWhatThePlacementSays) {
  const LinearPrices prices(price_list());
  const std::vector<int64_t> lengths = {100, 7, 0, 33};
  for (const SharderInfo& sharder : sharders()) {
    GroupSplit split;
    split.sharder = sharder.name;
    const GroupClock clock(3, split, prices);
    const Placement placement = shard_window(sharder.name, {lengths, 3, Mask::causal(), {}});
    const WindowWork work = clock.work(lengths);
    for (int32_t rank = 0; rank < 3; ++rank)
      EXPECT_EQ(work.tokens[static_cast<size_t>(rank)], placement.tokens(rank)) << sharder.name;
  }
}

std::string refusal(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "accepted";
}

TEST(GroupClock, RefusesAsMakePlanDoes) {
  const LinearPrices prices(price_list());
  PlanRequest request;
  request.cp = 6;
  request.shape = {4, 2, 16, 16, 2};
  request.groups = {{{{0, 50}}}};
  const auto differs = [&](auto change, const std::string& rule) {
    PlanRequest changed = request;
    change(changed);
    const std::string plan = refusal([&] { make_plan(changed); });
    EXPECT_NE(plan.find(rule), std::string::npos) << plan;
    EXPECT_EQ(plan, refusal([&] {
                const int64_t length = 50;
                GroupClock(changed.cp, split_of(changed), prices).work({&length, 1});
              }));
  };
  differs([](PlanRequest& r) { r.scheme = "all_to_all"; }, "nearest legal: cp 4");
  differs([](PlanRequest& r) { r.scheme = "gossip"; }, "unknown scheme");
  differs([](PlanRequest& r) { r.sharder = "random"; }, "unknown sharder");
  differs([](PlanRequest& r) { r.shape.kv_heads = 3; }, "multiple of kv_heads");
  differs([](PlanRequest& r) { r.cp = 0; }, "must be at least 1");
  differs([](PlanRequest& r) { r.scheme = "ring2d", r.scheme_options.inner = 4; }, "must divide cp 6");
  differs([](PlanRequest& r) { r.sharder = "whole_document", r.shard_options.token_cap = 5; },
          "nearest legal: 9");
}

}  // namespace
}  // namespace counterpoise
