// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <atomic>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "comm/board.h"

namespace counterpoise {

// A thread that beats this rank's heart on the board and watches the others' processes: one that is gone or
// stopped, or whose heart is silent, condemns the run, which every wait notices. If this process has not
// ended a second later (its main thread computes, say), or when SIGTERM comes because mpirun ends the job,
// on_fatal is called with a sentence that says who is missing and what this rank was at.
class Watchdog {
 public:
  Watchdog(Board& board, int rank, std::function<void(const std::string&)> on_fatal);
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

 private:
  struct Sight {
    uint64_t heartbeat = 0;
    Board::Clock::time_point changed;
  };

  void watch();
  std::string look_around();
  std::string look_at(int other, Sight& sight);

  Board& board_;
  int rank_;
  std::function<void(const std::string&)> on_fatal_;
  std::vector<Sight> sights_;
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

}  // namespace counterpoise
