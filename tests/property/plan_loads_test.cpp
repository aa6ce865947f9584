// SPDX-License-Identifier: Apache-2.0
#include "counterpoise/plan_loads.h"

#include <gtest/gtest.h>

#include "counterpoise/random.h"
#include "counterpoise/scheme.h"
#include "counterpoise/shard.h"

namespace counterpoise {
namespace {

// Every sharder x scheme x cp x mask on random windows: the short way equals adding up a real plan.
TEST(PlanLoads, CountedWithoutAPlanEqualTheOnesOfThePlan) {
  constexpr uint64_t kSeed = 5;
  RandomStream random(kSeed);
  SCOPED_TRACE(testing::Message() << "seed " << kSeed);
  for (const SharderInfo& sharder : sharders()) {
    for (const SchemeInfo& scheme : schemes()) {
      for (int32_t cp = 1; cp <= 8; ++cp) {
        for (const Mask mask : {Mask::causal(), Mask::full(), Mask::sliding_window(7)}) {
          PlanRequest request;
          request.cp = cp;
          request.sharder = sharder.name;
          request.scheme = scheme.name;
          request.shape = {8, random.below(2) == 0 ? 2 : 8, 4, 6, 2, mask};
          request.shard_options.block = 4;
          request.backward = true;
          auto& windows = request.groups.emplace_back();
          for (int w = 0; w < 3; ++w) {
            auto& documents = windows.emplace_back();
            for (uint64_t i = random.below(6); i > 0; --i) {
              documents.push_back({0, static_cast<int64_t>(random.below(60))});
            }
          }
          const StepPlan plan = make_plan(request);
          const LoadCounter counter(cp, request.shape, sharder.name, scheme.name, request.shard_options);
          for (const WindowPlan& window : plan.groups[0].windows) {
            std::vector<int64_t> lengths;
            for (const PlanDocument& document : window.documents) lengths.push_back(document.length);
            ASSERT_EQ(counter.count(lengths), loads_of(plan, window))
                << sharder.name << " x " << scheme.name << " cp " << cp << " "
                << testing::PrintToString(lengths);
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace counterpoise
