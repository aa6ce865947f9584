// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <atomic>
#include <chrono>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "counterpoise/communicator.h"

namespace counterpoise {

// One rank's line on the board; lies in memory that all ranks of a node share. Each field is atomic by
// itself: a reader may see the op of one moment with the peer of the next, which only blurs a message.
struct RankState {
  std::atomic<int64_t> pid{0};  // 0: not a process of this node (a thread, or another node)
  std::atomic<uint64_t> heartbeat{0};
  std::atomic<uint64_t> progress{0};  // grows whenever the rank gets on
  std::atomic<int32_t> phase{static_cast<int32_t>(Phase::kStarting)};
  std::atomic<int32_t> peer{-1};
  std::atomic<int64_t> op{-1};
  char error[480] = {};  // written before phase becomes kFailed
};
static_assert(std::atomic<uint64_t>::is_always_lock_free);

// The board: every rank's state, and the rules by which a waiting rank decides that it waits in vain.
class Board {
 public:
  using Clock = std::chrono::steady_clock;

  Board(RankState* states, int size, RunLimits limits) : states_(states), size_(size), limits_(limits) {}

  int size() const { return size_; }
  const RunLimits& limits() const { return limits_; }
  RankState& state(int rank) { return states_[rank]; }

  void enter(int rank, Phase phase, int64_t op, int peer);
  void fail(int rank, const std::string& reason);

  // "receiving from rank 1 in op 12".
  std::string describe(int rank) const;

  // This process's own verdict that the run is over; set by the watchdog, read by waits.
  void condemn(const std::string& verdict);
  std::optional<std::string> verdict() const;

  // One wait's view of the others. judge() is asked every few milliseconds and answers a reason to give up.
  class Patience {
   public:
    Patience(Board& board, int rank, const Awaited& awaited);
    std::optional<std::string> judge();

   private:
    std::optional<std::string> judge_peer(Clock::time_point now);
    bool somebody_computes() const;
    std::string prefix() const;

    Board& board_;
    int rank_;
    Awaited awaited_;
    Clock::time_point last_news_;
    uint64_t seen_progress_;
  };

 private:
  RankState* states_;
  int size_;
  RunLimits limits_;
  mutable std::mutex mutex_;
  std::atomic<bool> condemned_{false};
  std::string verdict_;
};

}  // namespace counterpoise
