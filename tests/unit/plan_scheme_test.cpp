// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "counterpoise/error.h"
#include "counterpoise/plan_loads.h"
#include "counterpoise/scheme.h"
#include "counterpoise/verify.h"

namespace counterpoise {
namespace {

PlanRequest request_of(std::vector<int64_t> lengths, int32_t cp, const char* sharder, const char* scheme) {
  PlanRequest request;
  request.groups.emplace_back().emplace_back();
  for (int64_t length : lengths) request.groups[0][0].push_back({0, length});
  request.cp = cp;
  request.sharder = sharder;
  request.scheme = scheme;
  request.shape = {8, 2, 16, 16, 4, Mask::causal()};
  request.backward = true;
  return request;
}

void expect_refused(const PlanRequest& request, ErrorKind kind, const std::vector<std::string>& words) {
  try {
    make_plan(request);
    FAIL() << request.scheme << " was not refused";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), kind);
    for (const std::string& word : words) {
      EXPECT_NE(std::string(error.what()).find(word), std::string::npos) << error.what();
    }
  }
}

TEST(PlanScheme, WhatCannotBeDoneIsRefusedWithTheNearestLegalChoice) {
  PlanRequest heads = request_of({64}, 9, "zigzag", "all_to_all");
  expect_refused(heads, ErrorKind::kInfeasible,
                 {"all_to_all", "cp 9", "8 query heads", "nearest legal: cp 8"});
  PlanRequest inner = request_of({64}, 6, "zigzag", "ring2d");
  inner.scheme_options.inner = 4;
  expect_refused(inner, ErrorKind::kInfeasible,
                 {"ring2d", "inner 4", "divide cp 6", "nearest legal: inner 3"});
  inner.cp = 16;
  inner.scheme_options.inner = 16;
  expect_refused(inner, ErrorKind::kInfeasible, {"8 query heads", "nearest legal: inner 8"});
  PlanRequest node = request_of({64}, 6, "zigzag", "double_ring");
  node.scheme_options.inner = 5;
  expect_refused(node, ErrorKind::kInfeasible, {"double_ring", "inner 5", "nearest legal: inner 6"});
  node.scheme_options.inner = -1;
  expect_refused(node, ErrorKind::kInfeasible, {"nearest legal: inner 1"});
}

TEST(PlanScheme, WrongArgumentsAreUsageErrors) {
  expect_refused(request_of({8}, 2, "zigzag", "rings"), ErrorKind::kUsage, {"rings", "double_ring"});
  expect_refused(request_of({8}, 0, "zigzag", "ring"), ErrorKind::kUsage, {"cp 0"});
  expect_refused(request_of({-1}, 2, "zigzag", "ring"), ErrorKind::kUsage, {"negative"});
  PlanRequest heads = request_of({8}, 2, "zigzag", "ring");
  heads.shape.kv_heads = 3;
  expect_refused(heads, ErrorKind::kUsage, {"heads 8", "kv_heads 3"});
}

// Primes fall back to one level; nothing else is refused for cp 1 ... 8.
TEST(PlanScheme, EverySchemeServesEveryCpUpToTheHeads) {
  for (const SchemeInfo& scheme : schemes()) {
    for (int32_t cp = 1; cp <= 8; ++cp) {
      EXPECT_NO_THROW(make_plan(request_of({13, 40}, cp, "zigzag", scheme.name.c_str())))
          << scheme.name << " " << cp;
    }
  }
}

const WindowPlan& only_window(const StepPlan& plan) {
  return plan.groups[0].windows[0];
}

TEST(PlanScheme, BytesOfRingAndAllGatherAreAllKeysToAllOthers) {
  for (const char* scheme : {"ring", "all_gather", "double_ring"}) {
    const StepPlan plan = make_plan(request_of({64}, 4, "zigzag", scheme));
    // Each of 64 rows goes to three ranks: k and v, 2 kv heads, 16 floats.
    EXPECT_EQ(traffic_of(plan, only_window(plan), false).sent, 64 * 3 * 2 * 32 * 4) << scheme;
    // Back: keys once more, and their gradients home.
    EXPECT_EQ(traffic_of(plan, only_window(plan), true).sent, 64 * 3 * 2 * 32 * 4 * 2) << scheme;
  }
}

TEST(PlanScheme, HeadExchangeSendsEachRowsHeadsOnce) {
  const StepPlan plan = make_plan(request_of({64}, 4, "zigzag", "all_to_all"));
  // 2 query heads and their 1 kv head per rank; q and out + lse of the rows of three others.
  const int64_t per_row = 2 * 16 * 4 + 1 * 32 * 4 + 2 * (16 * 4 + 4);
  EXPECT_EQ(traffic_of(plan, only_window(plan), false).sent, 4 * 48 * per_row);
}

TEST(PlanScheme, KvHeadsAreNotExpandedBeyondWhatARankComputes) {
  const StepPlan plan = make_plan(request_of({64}, 8, "zigzag", "all_to_all"));
  for (const Transfer& transfer : only_window(plan).forward.transfers) {
    if (transfer.payload == Payload::kKv) {
      EXPECT_EQ(transfer.heads.size(), 1);
    }
  }
}

TEST(PlanScheme, DirectMeetsTheBoundAndSendsNothingForWholeDocuments) {
  for (const Mask mask : {Mask::causal(), Mask::full(), Mask::sliding_window(9)}) {
    PlanRequest request = request_of({64, 30, 7}, 4, "zigzag", "direct");
    request.shape.mask = mask;
    const StepPlan plan = make_plan(request);
    for (const bool backward : {false, true}) {
      const Traffic traffic = traffic_of(plan, only_window(plan), backward);
      EXPECT_EQ(traffic.sent, traffic.least);
      EXPECT_GT(traffic.sent, 0);
    }
  }
  const StepPlan whole = make_plan(request_of({16, 16, 16, 16}, 4, "whole_document", "direct"));
  EXPECT_EQ(traffic_of(whole, only_window(whole), false).sent, 0);
}

TEST(PlanScheme, SlidingWindowNeedsOnlyAHalo) {
  PlanRequest request = request_of({400}, 4, "contiguous", "direct");
  request.shape.mask = Mask::sliding_window(10);
  const StepPlan plan = make_plan(request);
  // Nine keys from each left neighbour.
  EXPECT_EQ(traffic_of(plan, only_window(plan), false).sent, 3 * 9 * 2 * 32 * 4);
}

TEST(PlanScheme, NoSchemeBeatsTheBound) {
  for (const SchemeInfo& scheme : schemes()) {
    for (const char* sharder : {"contiguous", "zigzag", "per_document_zigzag", "whole_document"}) {
      const StepPlan plan = make_plan(request_of({64, 3, 30, 7}, 6, sharder, scheme.name.c_str()));
      for (const bool backward : {false, true}) {
        const Traffic traffic = traffic_of(plan, only_window(plan), backward);
        EXPECT_GE(traffic.sent, traffic.least) << scheme.name << " x " << sharder;
        EXPECT_GE(traffic.most_sent * 6, traffic.sent);
      }
    }
  }
}

// Work is levelled whatever the placement: at most cp queries' pairs above the mean.
TEST(PlanScheme, AttentionServerLevelsAnyPlacement) {
  const std::vector<int64_t> lengths{500, 20, 1, 260};
  for (const char* sharder : {"contiguous", "whole_document", "zigzag"}) {
    const StepPlan plan = make_plan(request_of(lengths, 4, sharder, "attention_server"));
    const WindowLoads loads = loads_of(plan, only_window(plan));
    int64_t most = 0, total = 0;
    for (const RankLoad& load : loads.forward) {
      most = std::max(most, load.area);
      total += load.area;
    }
    EXPECT_LE(most, total / 4 + 4 * 500 * 8) << sharder;
  }
}

// Between nodes of two ranks each row of keys crosses once per other node.
TEST(PlanScheme, DoubleRingCrossesBetweenNodesOnce) {
  const auto across = [](const char* scheme) {
    PlanRequest request = request_of({64}, 8, "zigzag", scheme);
    request.scheme_options.inner = scheme == std::string("double_ring") ? 4 : 0;
    const StepPlan plan = make_plan(request);
    int64_t bytes = 0;
    for (const Transfer& transfer : only_window(plan).forward.transfers) {
      bytes += transfer.src / 4 == transfer.dst / 4 ? 0 : transfer.bytes;
    }
    return bytes;
  };
  EXPECT_EQ(across("double_ring"), 64 * 2 * 32 * 4);
  EXPECT_GT(across("all_gather"), across("double_ring"));
}

// Ring's buffers shrink with cp; all_gather's do not.
TEST(PlanScheme, RingKeepsTwoBlocksAtATime) {
  const auto extra = [](const char* scheme, int32_t cp) {
    const StepPlan plan = make_plan(request_of({4096}, cp, "zigzag", scheme));
    const Pass& pass = only_window(plan).forward;
    int64_t home = 0;
    for (const Buffer& buffer : pass.buffers) home += buffer.home && buffer.rank == 0 ? buffer.bytes : 0;
    return peak_bytes(pass, 0) - home;
  };
  const int64_t block = 4096 / 8 * 2 * 32 * 4;
  EXPECT_EQ(extra("ring", 8), 2 * block);
  EXPECT_EQ(extra("ring", 16), block);
  EXPECT_EQ(extra("direct", 16), block);
  EXPECT_EQ(extra("all_gather", 8), 7 * block);
}

}  // namespace
}  // namespace counterpoise
