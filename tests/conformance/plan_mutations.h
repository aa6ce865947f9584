// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "counterpoise/plan.h"
#include "counterpoise/random.h"

// Ways to break a plan, for the test of the verifier.
namespace counterpoise::testing_plan {

// Changes the pass somewhere at random; false where it has nothing to change. The window is the pass's own.
using Mutate = std::function<bool(WindowPlan& window, Pass& pass, RandomStream& random)>;

struct Mutation {
  std::string name;
  Mutate mutate;
  // A mutant may happen to be another right plan (an op moved past one it does not depend on, a tile grown
  // into masked pairs). Where this is false there is no such excuse.
  bool may_be_equivalent = false;
};

std::vector<Mutation> all_mutations();

}  // namespace counterpoise::testing_plan
