// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "counterpoise/plan.h"

// What each rank of a plan has to do, as three numbers; from a plan, or without ever making one.
namespace counterpoise {

// One rank, one window, one pass.
struct RankLoad {
  int64_t tokens = 0;    // that it holds
  int64_t area = 0;      // unmasked pairs x query heads that it computes
  int64_t sent = 0;      // bytes
  int64_t received = 0;  // bytes
  auto operator<=>(const RankLoad&) const = default;
};

struct WindowLoads {
  std::vector<RankLoad> forward;   // by rank
  std::vector<RankLoad> backward;  // by rank
  auto operator<=>(const WindowLoads&) const = default;
};

// Of a plan that exists: its tiles and transfers added up. `backward` is empty where the plan has none.
WindowLoads loads_of(const StepPlan& plan, const WindowPlan& window);

// The same numbers for any window of the given layout, exactly, without tiles, transfers or programs:
// O(documents x cp + cp^2) where the routes do not depend on the window, else the cost of finding the rows
// that travel.
class LoadCounter {
 public:
  // Throws as make_plan does.
  LoadCounter(int32_t cp, const AttentionShape& shape, const std::string& sharder, const std::string& scheme,
              const ShardOptions& shard_options = {}, const SchemeOptions& scheme_options = {});
  ~LoadCounter();

  // Thread safe. `lengths`: the window's documents.
  WindowLoads count(std::span<const int64_t> lengths) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Bytes that no routing can avoid, for the plan's holders and computers: every rank must get the rows that
// its tiles read and it does not hold, once, and give back, once, what it computed for rows of others.
struct Traffic {
  int64_t sent = 0;       // all ranks together
  int64_t most_sent = 0;  // by one rank
  int64_t least = 0;      // the bound on `sent`
};
Traffic traffic_of(const StepPlan& plan, const WindowPlan& window, bool backward);

}  // namespace counterpoise
