// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "counterpoise/plan.h"
#include "counterpoise/prices.h"

// When the ranks of a group are done with their windows, without making a plan: of each window only what the
// clock reads (the price of every call, the bytes of every message) is worked out.
namespace counterpoise {

struct GroupProgram;

// How a window is split over the ranks of its group.
struct GroupSplit {
  std::string sharder = "zigzag";
  std::string scheme = "ring";
  ShardOptions shard_options;
  SchemeOptions scheme_options;
  AttentionShape shape;
  bool backward = false;  // also the backward pass
};

// What one pass of one window asks of its group.
struct PassWork {
  std::vector<double> attend;  // seconds of each call, [rank * steps + forward step]; 0 where there is none
  std::vector<double> merge;   // seconds, by message
  std::vector<int64_t> bytes;  // by message, -1: nothing travels
};

// What one window asks of its group.
struct WindowWork {
  std::shared_ptr<const GroupProgram> program;  // the order of calls and messages
  PassWork forward, backward;
  std::vector<int64_t> tokens;  // that each rank holds
};

// Of one rank, over all windows of a run; seconds.
struct RankClock {
  double end = 0;      // when it is done
  double compute = 0;  // in calls and merges
  double wait = 0;     // in waits
  int64_t sent = 0;    // bytes
  auto operator<=>(const RankClock&) const = default;
};

enum class Messages { kPriced, kFree };  // free: no bytes, no latency

// The clock of simulate_plan for one group: the same numbers as the plan's timeline, to the last bit. Thread
// safe.
class GroupClock {
 public:
  // Throws as make_plan does. `prices` must outlive it.
  GroupClock(int32_t cp, const GroupSplit& split, const Prices& prices);
  ~GroupClock();

  // `lengths`: the window's documents, each >= 0. kInfeasible where a token cap cannot be kept.
  WindowWork work(std::span<const int64_t> lengths) const;

  // By rank, for windows one after another as a plan's group runs them: forward before backward, no barrier
  // between windows. `first_rank` is the group's first in the run.
  std::vector<RankClock> run(std::span<const WindowWork> windows, int32_t first_rank,
                             Messages messages = Messages::kPriced) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace counterpoise
