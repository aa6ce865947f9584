// SPDX-License-Identifier: Apache-2.0
#include "comm/watchdog.h"

#include <csignal>
#include <cstdio>
#include <fstream>

#include "counterpoise/error.h"

namespace counterpoise {
namespace {

constexpr long kBeatNanoseconds = 100'000'000;
constexpr auto kGrace = std::chrono::seconds(1);

// The letter of /proc/PID/stat: R, S, D run; T stopped; Z dead, not yet reaped; 0 gone.
char process_state(int64_t pid) {
  std::ifstream file(fmt::format("/proc/{}/stat", pid));
  std::string text;
  if (!std::getline(file, text)) return 0;
  const size_t name_end = text.rfind(')');
  return name_end == std::string::npos || name_end + 2 >= text.size() ? 0 : text[name_end + 2];
}

bool over(const RankState& state) {
  const auto phase = static_cast<Phase>(state.phase.load());
  return phase == Phase::kDone || phase == Phase::kFailed;
}

// Sleeps one beat; true if SIGTERM came meanwhile.
bool beat() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGTERM);
  const timespec pause{0, kBeatNanoseconds};
  return sigtimedwait(&set, nullptr, &pause) == SIGTERM;
}

}  // namespace

void block_sigterm() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
}

Watchdog::Watchdog(Board& board, int rank, std::function<void(const std::string&)> on_fatal)
    : board_(board), rank_(rank), on_fatal_(std::move(on_fatal)), sights_(static_cast<size_t>(board.size())) {
  for (Sight& sight : sights_) sight.changed = Board::Clock::now();
  thread_ = std::thread([this] { watch(); });
}

Watchdog::~Watchdog() {
  stop_ = true;
  thread_.join();
}

std::string Watchdog::look_at(int other, Sight& sight) {
  const RankState& state = board_.state(other);
  const int64_t pid = state.pid.load();
  if (pid == 0 || over(state)) return {};
  const auto now = Board::Clock::now();
  const uint64_t heartbeat = state.heartbeat.load();
  if (heartbeat != sight.heartbeat) sight = {heartbeat, now};
  const char process = process_state(pid);
  if (process == 0 || process == 'Z' || process == 'X') {
    return fmt::format("rank {} (process {}) died while {}", other, pid, board_.describe(other));
  }
  const double silent = std::chrono::duration<double>(now - sight.changed).count();
  if (silent < board_.limits().silence_seconds) return {};
  return fmt::format("rank {} (process {}) {} for {:.1f} s; it was {}", other, pid,
                     process == 'T' ? "has been stopped" : "has not answered", silent,
                     board_.describe(other));
}

std::string Watchdog::look_around() {
  std::string found;
  for (int other = 0; other < board_.size(); ++other) {
    if (other == rank_) continue;
    const std::string sentence = look_at(other, sights_[static_cast<size_t>(other)]);
    if (!sentence.empty()) found += (found.empty() ? "" : "; ") + sentence;
  }
  return found;
}

void Watchdog::watch() {
  Board::Clock::time_point condemned{};
  while (!stop_) {
    const bool terminated = beat();
    board_.state(rank_).heartbeat.fetch_add(1, std::memory_order_relaxed);
    const std::string found = over(board_.state(rank_)) ? std::string() : look_around();
    if (!found.empty()) board_.condemn(found);
    if (terminated && on_fatal_) {
      const std::string verdict = board_.verdict().value_or("no rank is missing yet");
      on_fatal_(
          fmt::format("rank {}: SIGTERM, the job is being ended from outside while this rank was {}; {}",
                      rank_, board_.describe(rank_), verdict));
    }
    const auto verdict = board_.verdict();
    if (!verdict) continue;
    if (condemned == Board::Clock::time_point{}) condemned = Board::Clock::now();
    if (Board::Clock::now() - condemned > kGrace && on_fatal_) {
      on_fatal_(fmt::format("rank {}, {}: {}", rank_, board_.describe(rank_), *verdict));
    }
  }
}

}  // namespace counterpoise
