// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "counterpoise/error.h"
#include "counterpoise/scheme.h"
#include "counterpoise/shard.h"
#include "counterpoise/verify.h"
#include "plan_interpreter.h"

namespace counterpoise {
namespace {

using testing_plan::CopyTime;
using testing_plan::Interpreter;

struct HeadLayout {
  const char* name;
  int32_t heads, kv_heads;
};
constexpr HeadLayout kLayouts[] = {{"MHA", 8, 8}, {"GQA 4:1", 8, 2}, {"MQA", 8, 1}};
const Mask kMasks[] = {Mask::causal(), Mask::full(), Mask::sliding_window(5), {3, 2}};

// Lengths 0, 1, odd, shorter than cp, and fewer documents or tokens than ranks.
const std::vector<std::vector<int64_t>> kWindows = {{7, 0, 1, 17, 3}, {5}};

PlanRequest request_of(const std::vector<int64_t>& lengths, int32_t cp, const HeadLayout& layout, Mask mask) {
  PlanRequest request;
  request.groups.emplace_back().emplace_back();
  for (size_t i = 0; i < lengths.size(); ++i) {
    request.groups[0][0].push_back({static_cast<int64_t>(i), lengths[i]});
  }
  request.cp = cp;
  request.shape = {layout.heads, layout.kv_heads, 3, 2, 4, mask};
  request.shard_options.block = 3;
  request.backward = true;
  return request;
}

// Both passes of one plan against whole attention. Both sides are double: n keys of magnitude near 1 leave an
// error of a few n ulp, far below this bound; a missing or doubled pair is off by more than 1e-6.
constexpr double kBound = 1e-11;

void expect_exact(const PlanRequest& request) {
  const StepPlan plan = make_plan(request);
  ASSERT_NO_THROW(require_valid(plan));
  const WindowPlan& window = plan.groups[0].windows[0];
  const auto whole = testing_plan::whole_attention(window.documents, plan.shape, 7);
  for (const bool backward : {false, true}) {
    for (const CopyTime copy_time : {CopyTime::kEarliest, CopyTime::kLatest}) {
      Interpreter interpreter(window, plan.shape, whole, backward, copy_time);
      ASSERT_NO_THROW(interpreter.run()) << (backward ? "backward" : "forward");
      ASSERT_LT(interpreter.largest_error(), kBound) << (backward ? "backward" : "forward");
    }
  }
}

TEST(PlanOracle, EverySharderSchemeMaskHeadLayoutAndCpIsExact) {
  int64_t combinations = 0;
  for (const SharderInfo& sharder : sharders()) {
    for (const SchemeInfo& scheme : schemes()) {
      for (const HeadLayout& layout : kLayouts) {
        for (const Mask mask : kMasks) {
          for (int32_t cp = 1; cp <= 8; ++cp) {
            for (const auto& lengths : kWindows) {
              PlanRequest request = request_of(lengths, cp, layout, mask);
              request.sharder = sharder.name;
              request.scheme = scheme.name;
              SCOPED_TRACE(testing::Message() << sharder.name << " x " << scheme.name << " " << layout.name
                                              << " mask " << mask.left << "," << mask.right << " cp " << cp
                                              << " documents " << lengths.size());
              expect_exact(request);
              if (HasFatalFailure()) return;
              ++combinations;
            }
          }
        }
      }
    }
  }
  RecordProperty("combinations", std::to_string(combinations));
  std::printf("%lld plans, forward and backward\n", static_cast<long long>(combinations));
}

// Every way to cut 12 and 16 ranks into two levels.
TEST(PlanOracle, EveryInnerSizeIsExact) {
  for (const char* scheme : {"ring2d", "double_ring"}) {
    for (const int32_t cp : {12, 16}) {
      for (int32_t inner = 1; inner <= cp; ++inner) {
        if (cp % inner != 0 || (scheme == std::string("ring2d") && inner > 8)) continue;
        PlanRequest request = request_of({29, 11, 2}, cp, kLayouts[1], Mask::causal());
        request.scheme = scheme;
        request.scheme_options.inner = inner;
        SCOPED_TRACE(testing::Message() << scheme << " cp " << cp << " inner " << inner);
        expect_exact(request);
      }
    }
  }
}

}  // namespace
}  // namespace counterpoise
