// SPDX-License-Identifier: Apache-2.0
// The executor with real attention against the fp64 oracle.
#include <gtest/gtest.h>

#include <random>

#include "conformance/every_plan.h"
#include "counterpoise/execute.h"
#include "exec/check.h"

namespace counterpoise {
namespace {

struct HeadLayout {
  const char* name;
  int32_t heads, kv_heads;
};
constexpr HeadLayout kLayouts[] = {{"MHA", 8, 8}, {"GQA 4:1", 8, 2}, {"MQA", 8, 1}};
struct NamedMask {
  const char* name;
  Mask mask;
};
const NamedMask kMasks[] = {
    {"causal", Mask::causal()}, {"full", Mask::full()}, {"window", Mask::sliding_window(9)}};

PlanRequest request_of(const std::vector<std::vector<int64_t>>& windows, int32_t cp, const HeadLayout& heads,
                       Mask mask) {
  PlanRequest request;
  auto& group = request.groups.emplace_back();
  for (const auto& lengths : windows) {
    auto& documents = group.emplace_back();
    for (size_t i = 0; i < lengths.size(); ++i) documents.push_back({static_cast<int64_t>(i), lengths[i]});
  }
  request.cp = cp;
  request.shape = {heads.heads, heads.kv_heads, 32, 32, 4, mask};
  request.shard_options.block = 5;
  request.backward = true;
  return request;
}

CheckResult run_and_check(const StepPlan& plan, CheckKind kind, const KernelOptions& options,
                          const Faults* faults = nullptr) {
  CheckResult result;
  run_on_threads(plan.dp() * plan.cp, [&](Communicator& inner) {
    const auto wrapped = faults ? make_faulty(inner, *faults) : nullptr;
    Communicator& world = wrapped ? *wrapped : inner;
    MemoryCounter counter;
    const int32_t group_index = world.rank() / plan.cp;
    const auto group = make_group(world, group_index * plan.cp, plan.cp);
    const auto clock = make_real_clock();
    AttentionKernel kernel(plan, group_index, *group, counter, options);
    world.barrier();
    execute_windows(plan, world, kernel, *clock);
    world.barrier();
    CheckResult mine;
    const auto windows = static_cast<int32_t>(plan.groups[static_cast<size_t>(group_index)].windows.size());
    for (int32_t w = 0; w < windows; ++w) {
      mine.add(check_window(plan, group_index, w, kernel.tensors(w), *group, kind, options));
    }
    if (world.rank() == 0) result = mine;
  });
  return result;
}

void expect_exact(const CheckResult& result, size_t tensors) {
  ASSERT_EQ(result.tensors.size(), tensors);
  for (const TensorCheck& tensor : result.tensors) {
    ASSERT_LE(tensor.error, tensor.allowed) << tensor.name;
    if (tensor.name != "lse") {
      ASSERT_GT(tensor.allowed, 0) << tensor.name;
    }
  }
}

// Length 0, 1, odd, shorter than the cp, longer than a kernel block.
const std::vector<std::vector<int64_t>> kWindows = {{37, 0, 1, 70, 3}, {5}};

int sweep(const std::vector<int32_t>& degrees, std::span<const HeadLayout> layouts) {
  PlanCount all;
  KernelOptions options;
  for (const int32_t cp : degrees) {
    for (const HeadLayout& heads : layouts) {
      for (const NamedMask& mask : kMasks) {
        SCOPED_TRACE(fmt::format("{} {}", heads.name, mask.name));
        options.in_place = !options.in_place;  // so that a pair meets both over masks and heads
        all += for_every_plan([&] { return request_of(kWindows, cp, heads, mask.mask); },
                              [&](const StepPlan& plan) {
                                options.in_place = !options.in_place;
                                expect_exact(run_and_check(plan, CheckKind::kOracle, options), 5);
                              });
        if (::testing::Test::HasFatalFailure()) return all.planned;
      }
    }
  }
  std::printf("exact: %d combinations (forward and backward each), refused: %d\n", all.planned, all.refused);
  return all.planned;
}

TEST(Exactness, EverySharderSchemeAndMaskAtCp2) {
  EXPECT_GT(sweep({2}, std::span(kLayouts).subspan(1, 1)), 0);
}

TEST(Exactness, SlowEverySharderSchemeMaskHeadLayoutAndCp) {
  EXPECT_GT(sweep({1, 2, 3, 4, 5, 6, 7, 8}, kLayouts), 0);
}

// Query heads that a rank computes may begin and end inside groups of a kv head.
TEST(Exactness, HeadRangesThatCutGroupsOfKvHeads) {
  constexpr HeadLayout kOdd[] = {{"3 to 1", 6, 2}, {"5 to 1", 10, 2}, {"2 to 1", 14, 7}};
  for (const HeadLayout& heads : kOdd) {
    for (const int32_t cp : {3, 4, 5}) {
      for (const std::string scheme : {"all_to_all", "ring2d"}) {
        PlanRequest request = request_of(kWindows, cp, heads, Mask::causal());
        request.scheme = scheme;
        for (const bool in_place : {false, true}) {
          SCOPED_TRACE(fmt::format("{} {} cp {} in place {}", scheme, heads.name, cp, in_place));
          KernelOptions options;
          options.in_place = in_place;
          expect_exact(run_and_check(make_plan(request), CheckKind::kOracle, options), 5);
        }
      }
    }
  }
}

TEST(Exactness, SingleRankCheckPassesAndSeesAnError) {
  PlanRequest request = request_of({{300, 41}, {128}}, 3, kLayouts[1], Mask::causal());
  const StepPlan plan = make_plan(request);
  expect_exact(run_and_check(plan, CheckKind::kSingle, {}), 5);
  expect_exact(run_and_check(plan, CheckKind::kOracle, {}), 5);

  StepPlan wrong = plan;  // one tile misses one key: out, lse and gradients change a little
  for (Pass* pass : {&wrong.groups[0].windows[0].forward, &wrong.groups[0].windows[0].backward}) {
    for (Tile& tile : pass->tiles) {
      if (tile.document == 0 && tile.kv.size() > 20) {
        tile.kv.end -= 1;
        break;
      }
    }
  }
  for (const CheckKind kind : {CheckKind::kSingle, CheckKind::kOracle}) {
    const CheckResult result = run_and_check(wrong, kind, {});
    EXPECT_FALSE(result.ok());
    for (const TensorCheck& tensor : result.tensors) EXPECT_FALSE(tensor.ok()) << tensor.name;
  }
}

TEST(Exactness, LateMessagesInAnyOrderChangeNothing) {
  const uint64_t seed = std::random_device{}();
  SCOPED_TRACE(fmt::format("seed {}", seed));
  for (const SchemeInfo& scheme : schemes()) {
    PlanRequest request = request_of(kWindows, 4, kLayouts[1], Mask::causal());
    request.scheme = scheme.name;
    const StepPlan plan = make_plan(request);
    for (const bool in_place : {false, true}) {
      KernelOptions options;
      options.in_place = in_place;
      const Faults faults{.seed = seed, .delay_seconds = 0.002, .reorder = true};
      expect_exact(run_and_check(plan, CheckKind::kOracle, options, &faults), 5);
    }
  }
}

}  // namespace
}  // namespace counterpoise
