// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <sched.h>

#include <atomic>
#include <cstdint>
#include <vector>

#include "counterpoise/error.h"

namespace counterpoise {

// How often each (query head, block of queries) had its dq added to. A visit waits for its turn, so that the
// sums are made in one order.
class Turns {
 public:
  Turns(int64_t heads, int64_t blocks) : blocks_(blocks), done_(static_cast<size_t>(heads * blocks)) {}

  void wait(int64_t head, int64_t block, uint32_t turn) {
    std::atomic<uint32_t>& done = done_[head * blocks_ + block];
    for (int spins = 0; done.load(std::memory_order_acquire) != turn; ++spins) {
      if (failed_.load(std::memory_order_relaxed))
        throw_error(ErrorKind::kCheckFailed, "another thread failed");
      if (spins > 1000) sched_yield();
    }
  }
  void finish(int64_t head, int64_t block, uint32_t turn) {
    done_[head * blocks_ + block].store(turn + 1, std::memory_order_release);
  }
  void fail() { failed_.store(true); }

 private:
  const int64_t blocks_;
  std::vector<std::atomic<uint32_t>> done_;
  std::atomic<bool> failed_{false};
};

}  // namespace counterpoise
