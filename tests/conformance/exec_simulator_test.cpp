// SPDX-License-Identifier: Apache-2.0
// Simulator and executor are separate readers of a plan. On a virtual clock, with kernels that only have a
// price, the executor must give the simulator's timeline to the last bit.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <random>

#include "conformance/every_plan.h"
#include "counterpoise/execute.h"
#include "counterpoise/random.h"
#include "counterpoise/simulate_plan.h"
#include "two_level_prices.h"

namespace counterpoise {
namespace {

LinearPriceList price_list() {
  LinearPriceList list = two_level_prices(2);
  list.all_reduce_bytes = 1e6;
  return list;
}

// The executor on threads, every rank with a clock of its own; `outside` wraps each rank's communicator.
using Outside = std::function<std::unique_ptr<Communicator>(Communicator&)>;
Timeline executed(const StepPlan& plan, const Prices& prices, const Outside& outside = nullptr) {
  Timeline timeline;
  run_on_threads(plan.dp() * plan.cp,
                 [&](Communicator& inner) {
                   const std::unique_ptr<Communicator> wrapped = outside ? outside(inner) : nullptr;
                   Communicator& world = wrapped ? *wrapped : inner;
                   compare_plans(plan, world);
                   const auto clock = make_virtual_clock(prices);
                   const auto kernel = make_priced_kernel(prices);
                   clock->start_step();
                   Timeline mine = execute_windows(plan, world, *kernel, *clock);
                   reduce_gradient(world, *clock, {}, prices.all_reduce(world.size()), mine);
                   const Timeline all = gather_timeline(mine, world);
                   if (world.rank() == 0) timeline = all;
                 },
                 {.silence_seconds = 5, .wait_seconds = 1});
  return timeline;
}

PlanRequest random_request(RandomStream& random, int32_t cp) {
  PlanRequest request;
  request.cp = cp;
  request.shape = {8, 2, 64, 64, 2, Mask::causal()};
  request.shard_options.block = 16;
  request.backward = true;
  for (int group = 0; group < 2; ++group) {
    auto& windows = request.groups.emplace_back();
    for (int w = 0; w < 2; ++w) {
      auto& documents = windows.emplace_back();
      const auto count = static_cast<int64_t>(1 + random.below(5));
      for (int64_t i = 0; i < count; ++i) documents.push_back({i, static_cast<int64_t>(random.below(300))});
    }
  }
  return request;
}

TEST(Conformance, ExecutorGivesTheSimulatorsTimelineForEverySharderSchemeAndCp) {
  const uint64_t seed = std::random_device{}();
  SCOPED_TRACE(fmt::format("seed {}", seed));
  RandomStream random(seed);
  const LinearPrices prices(price_list());
  PlanCount all;
  for (int32_t cp = 1; cp <= 8; ++cp) {
    all += for_every_plan([&] { return random_request(random, cp); },
                          [&](const StepPlan& plan) {
                            const Timeline expected = simulate_plan(plan, prices);
                            ASSERT_GT(expected.spans.size(), 0u);
                            ASSERT_EQ(first_difference(expected, executed(plan, prices)), "");
                          });
    if (HasFatalFailure()) return;
  }
  std::printf("timelines equal: %d, plans refused: %d\n", all.planned, all.refused);
  EXPECT_GT(all.planned, 0);
}

TEST(Conformance, MessagesThatComeLateAndOutOfOrderChangeNoTimeline) {
  const uint64_t seed = std::random_device{}();
  SCOPED_TRACE(fmt::format("seed {}", seed));
  RandomStream random(seed);
  const LinearPrices prices(price_list());
  for (const SchemeInfo& scheme : schemes()) {
    PlanRequest request = random_request(random, 4);
    request.scheme = scheme.name;
    const StepPlan plan = make_plan(request);
    const Timeline shaken = executed(plan, prices, [&](Communicator& inner) {
      return make_faulty(inner, {.seed = seed, .delay_seconds = 0.002, .reorder = true});
    });
    ASSERT_EQ(first_difference(simulate_plan(plan, prices), shaken), "") << scheme.name;
  }
}

// One group, one window, forward only; one head of dim 64 in float32: a row of keys and values has 512 bytes.
PlanRequest small_request(int32_t cp, int64_t length, const std::string& sharder) {
  PlanRequest request;
  request.groups = {{{{0, length}}}};
  request.cp = cp;
  request.shape = {1, 1, 64, 64, 4, Mask::full()};
  request.sharder = sharder;
  request.scheme = "ring";
  return request;
}

// 1 second a pair, 1/256 s a row of keys and values, latency 1/2 s.
LinearPrices hand_prices() {
  return LinearPrices({.seconds_per_pair = 1, .in_node = {0.5, 512 * 256.0}, .between_nodes = {}});
}

std::vector<Span> of_kind(const Timeline& timeline, SpanKind kind) {
  std::vector<Span> found;
  for (const Span& span : timeline.spans) {
    if (span.kind == kind) found.push_back(span);
  }
  return found;
}

struct Expected {
  int32_t rank;
  double begin, end;
};

void expect_spans(const Timeline& timeline, SpanKind kind, const std::vector<Expected>& expected) {
  const std::vector<Span> found = of_kind(timeline, kind);
  ASSERT_EQ(found.size(), expected.size()) << span_name(kind);
  for (size_t i = 0; i < found.size(); ++i) {
    EXPECT_EQ(found[i].rank, expected[i].rank) << span_name(kind) << " " << i;
    EXPECT_EQ(found[i].begin, expected[i].begin) << span_name(kind) << " " << i;
    EXPECT_EQ(found[i].end, expected[i].end) << span_name(kind) << " " << i;
  }
}

// Two ranks with 2 tokens each, full mask: 4 pairs at home, 4 pairs with the neighbour's keys. The message
// (2 rows, 1/128 s, then 1/2 s) leaves at 0 and is there long before the first 4 s are over.
TEST(Conformance, HandComputedTimelineOfTwoRanks) {
  const StepPlan plan = make_plan(small_request(2, 4, "contiguous"));
  const LinearPrices prices = hand_prices();
  for (const Timeline& timeline : {simulate_plan(plan, prices), executed(plan, prices)}) {
    expect_spans(timeline, SpanKind::kAttend, {{0, 0, 4}, {0, 4, 8}, {1, 0, 4}, {1, 4, 8}});
    expect_spans(timeline, SpanKind::kTransfer, {{0, 0, 0.5 + 1.0 / 128}, {1, 0, 0.5 + 1.0 / 128}});
    expect_spans(timeline, SpanKind::kReduce, {{0, 8, 9}, {1, 8, 9}});  // two hops of 1/2 s, no bytes
  }
}

// Five tokens on three ranks: 2, 2 and 1. Keys go round 0 -> 1 -> 2 -> 0, each forwarded when the rank has
// attended to its step. Rank 2 is quick, and waits for rank 0's keys until rank 1 forwards them at 4 s:
// two rows, so they arrive at 4 + 1/128 + 1/2. The reduce takes 4 hops of 1/2 s after the last rank's 10 s.
TEST(Conformance, HandComputedTimelineOfThreeRanksWithUnequalShares) {
  const StepPlan plan = make_plan(small_request(3, 5, "contiguous"));
  const LinearPrices prices = hand_prices();
  const double one_row = 0.5 + 1.0 / 256, two_rows = 0.5 + 1.0 / 128;
  for (const Timeline& timeline : {simulate_plan(plan, prices), executed(plan, prices)}) {
    expect_spans(timeline, SpanKind::kAttend,
                 {{0, 0, 4},
                  {0, 4, 6},
                  {0, 6, 10},
                  {1, 0, 4},
                  {1, 4, 8},
                  {1, 8, 10},
                  {2, 0, 1},
                  {2, 1, 3},
                  {2, 4 + two_rows, 6 + two_rows}});
    expect_spans(timeline, SpanKind::kTransfer,
                 {{0, 0, two_rows},
                  {0, 4, 4 + one_row},
                  {1, 0, two_rows},
                  {1, 4, 4 + two_rows},
                  {2, 0, one_row},
                  {2, 1, 1 + two_rows}});
    expect_spans(timeline, SpanKind::kReduce, {{0, 10, 12}, {1, 10, 12}, {2, 6 + two_rows, 12}});
    double waited = 0;
    for (const Span& span : of_kind(timeline, SpanKind::kWait)) waited += span.seconds();
    EXPECT_EQ(waited, 1 + two_rows);
  }
}

StepPlan uneven_plan() {
  PlanRequest request = small_request(3, 50, "contiguous");
  request.shape.mask = Mask::causal();
  request.backward = true;
  return make_plan(request);
}

TEST(Conformance, APerturbedPriceShows) {
  const StepPlan plan = uneven_plan();
  LinearPriceList list = price_list();
  const Timeline timeline = executed(plan, LinearPrices(list));
  ASSERT_EQ(first_difference(simulate_plan(plan, LinearPrices(list)), timeline), "");
  const auto differs = [&](double LinearPriceList::*price) {
    LinearPriceList other = list;
    other.*price *= 1.0001;
    return first_difference(simulate_plan(plan, LinearPrices(other)), timeline) != "";
  };
  EXPECT_TRUE(differs(&LinearPriceList::seconds_per_call));
  EXPECT_TRUE(differs(&LinearPriceList::seconds_per_pair));
  EXPECT_TRUE(differs(&LinearPriceList::backward_factor));
  EXPECT_TRUE(differs(&LinearPriceList::merge_seconds_per_byte));
  EXPECT_TRUE(differs(&LinearPriceList::all_reduce_bytes));
  list.between_nodes.latency *= 1.0001;
  EXPECT_NE(first_difference(simulate_plan(plan, LinearPrices(list)), timeline), "");
}

// An attend that trades places with the op after it must change the timeline, and in both readers alike.
TEST(Conformance, ASwappedOpShows) {
  const StepPlan plan = uneven_plan();
  const LinearPrices prices(price_list());
  const Timeline timeline = simulate_plan(plan, prices);
  int tried = 0;
  for (const bool backward : {false, true}) {
    WindowPlan probe = plan.groups[0].windows[0];
    const size_t ops = (backward ? probe.backward : probe.forward).ops.size();
    for (size_t i = 0; i + 1 < ops; ++i) {
      StepPlan swapped = plan;
      WindowPlan& window = swapped.groups[0].windows[0];
      Pass& pass = backward ? window.backward : window.forward;
      if (pass.ops[i].kind != OpKind::kAttend || pass.ops[i + 1].kind == OpKind::kAttend) continue;
      if (std::count(pass.programs.begin(), pass.programs.end(), static_cast<int32_t>(i + 1)) > 0) continue;
      std::swap(pass.ops[i], pass.ops[i + 1]);
      ++tried;
      EXPECT_NE(first_difference(simulate_plan(swapped, prices), timeline), "") << "op " << i;
      EXPECT_NE(first_difference(executed(swapped, prices), timeline), "") << "op " << i;
      EXPECT_EQ(first_difference(executed(swapped, prices), simulate_plan(swapped, prices)), "")
          << "op " << i;
    }
  }
  EXPECT_GT(tried, 0);
}

TEST(Conformance, RanksWithDifferentPlansDoNotStart) {
  const StepPlan plan = uneven_plan();
  StepPlan other = plan;
  other.groups[0].windows[0].forward.tiles.back().kv.end -= 1;
  try {
    run_on_threads(3, [&](Communicator& world) { compare_plans(world.rank() == 2 ? other : plan, world); });
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("rank 2 has plan"), std::string::npos) << error.what();
  }
}

TEST(Conformance, APlanThatWaitsForeverIsNamedByTheSimulator) {
  StepPlan plan = uneven_plan();
  Pass& pass = plan.groups[0].windows[0].forward;
  for (size_t i = 0; i < pass.ops.size(); ++i) {  // rank 0 forgets its first send
    if (pass.ops[i].kind != OpKind::kSend) continue;
    pass.ops[i].kind = OpKind::kRecv;
    break;
  }
  try {
    simulate_plan(plan, hand_prices());
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("from rank 0, which never sends it"), std::string::npos)
        << error.what();
  }
}

}  // namespace
}  // namespace counterpoise
