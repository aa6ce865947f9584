// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstdio>

#include "counterpoise/scheme.h"
#include "counterpoise/verify.h"
#include "plan_interpreter.h"
#include "plan_mutations.h"

namespace counterpoise {
namespace {

using testing_plan::CopyTime;
using testing_plan::Interpreter;
using testing_plan::Mutation;

StepPlan plan_of(const std::string& scheme, const std::string& sharder, int32_t cp, Mask mask) {
  PlanRequest request;
  request.groups.emplace_back().emplace_back();
  for (const int64_t length : {9, 2, 14, 6}) request.groups[0][0].push_back({length, length});
  request.cp = cp;
  request.shape = {4, 2, 2, 2, 4, mask};
  request.sharder = sharder;
  request.scheme = scheme;
  request.backward = true;
  return make_plan(request);
}

// Whether the plan, right or wrong, gives whole attention.
bool computes_attention(const StepPlan& plan, const std::vector<testing_plan::WholeDocument>& whole) {
  for (const bool backward : {false, true}) {
    for (const CopyTime copy_time : {CopyTime::kEarliest, CopyTime::kLatest}) {
      try {
        Interpreter interpreter(plan.groups[0].windows[0], plan.shape, whole, backward, copy_time);
        interpreter.run();
        if (!(interpreter.largest_error() < 1e-11)) return false;
      } catch (const std::runtime_error&) {
        return false;
      }
    }
  }
  return true;
}

struct Tally {
  int64_t tried = 0, caught = 0, equivalent = 0;
};

class PlanMutation : public testing::Test {
 protected:
  // Breaks the plan in one way, `times` times; a survivor fails the test.
  void attack(const StepPlan& plan, const Mutation& mutation, int times, RandomStream& random, Tally& tally) {
    const auto whole = testing_plan::whole_attention(plan.groups[0].windows[0].documents, plan.shape, 3);
    for (int i = 0; i < times; ++i) {
      StepPlan mutant = plan;
      WindowPlan& window = mutant.groups[0].windows[0];
      Pass& pass = random.below(2) == 0 ? window.forward : window.backward;
      if (!mutation.mutate(window, pass, random)) continue;
      ++tally.tried;
      if (!verify(mutant).ok()) {
        ++tally.caught;
      } else if (mutation.may_be_equivalent && computes_attention(mutant, whole)) {
        ++tally.equivalent;
      } else {
        ADD_FAILURE() << "survivor: " << mutation.name << ", " << plan.sharder << " x " << plan.scheme
                      << " cp " << plan.cp;
      }
    }
  }
};

TEST_F(PlanMutation, NoMutantSurvives) {
  constexpr uint64_t kSeed = 2024;
  RandomStream random(kSeed);
  SCOPED_TRACE(testing::Message() << "seed " << kSeed);
  std::vector<StepPlan> plans;
  for (const SchemeInfo& scheme : schemes()) {
    for (const char* sharder : {"contiguous", "zigzag", "per_document_zigzag"}) {
      plans.push_back(plan_of(scheme.name, sharder, 2, Mask::causal()));
      plans.push_back(plan_of(scheme.name, sharder, 4, Mask::causal()));
      plans.push_back(plan_of(scheme.name, sharder, 4, Mask::sliding_window(4)));
    }
  }
  Tally total;
  for (const Mutation& mutation : testing_plan::all_mutations()) {
    Tally tally;
    for (const StepPlan& plan : plans) attack(plan, mutation, 25, random, tally);
    EXPECT_GT(tally.caught, 0) << mutation.name << " was never caught";
    std::printf("%-22s %6lld mutants, %6lld caught, %4lld equivalent\n", mutation.name.c_str(),
                static_cast<long long>(tally.tried), static_cast<long long>(tally.caught),
                static_cast<long long>(tally.equivalent));
    total.tried += tally.tried;
    total.caught += tally.caught;
    total.equivalent += tally.equivalent;
  }
  std::printf("%lld mutants, %lld caught, %lld equivalent, 0 survivors wanted\n",
              static_cast<long long>(total.tried), static_cast<long long>(total.caught),
              static_cast<long long>(total.equivalent));
}

}  // namespace
}  // namespace counterpoise
