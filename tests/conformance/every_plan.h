// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <gtest/gtest.h>

#include <optional>

#include "counterpoise/error.h"
#include "counterpoise/plan.h"
#include "counterpoise/scheme.h"
#include "counterpoise/shard.h"

namespace counterpoise {

struct PlanCount {
  int planned = 0, refused = 0;
  PlanCount& operator+=(const PlanCount& other) {
    planned += other.planned;
    refused += other.refused;
    return *this;
  }
};

// The plan of a request; nothing where its layout cannot be, any other error is thrown on.
inline std::optional<StepPlan> plan_unless_refused(const PlanRequest& request) {
  try {
    return make_plan(request);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::kInfeasible) throw;
    return std::nullopt;
  }
}

// Calls use(plan) for every sharder x scheme of the requests that make() gives, until a fatal failure.
template <typename Make, typename Use>
PlanCount for_every_plan(Make make, Use use) {
  PlanCount count;
  for (const SharderInfo& sharder : sharders()) {
    for (const SchemeInfo& scheme : schemes()) {
      PlanRequest request = make();
      request.sharder = sharder.name;
      request.scheme = scheme.name;
      SCOPED_TRACE(testing::Message() << sharder.name << " x " << scheme.name << " cp " << request.cp);
      const std::optional<StepPlan> plan = plan_unless_refused(request);
      if (plan) use(*plan);
      if (testing::Test::HasFatalFailure()) return count;
      ++(plan ? count.planned : count.refused);
    }
  }
  return count;
}

}  // namespace counterpoise
