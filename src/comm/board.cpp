// SPDX-License-Identifier: Apache-2.0
#include "comm/board.h"

#include <algorithm>
#include <cstring>

#include "counterpoise/error.h"

namespace counterpoise {
namespace {

// A rank is done only after its sends were taken, so what it sent is here or nearly so.
constexpr double kGraceAfterDone = 1;

Phase phase_of(const RankState& state) {
  return static_cast<Phase>(state.phase.load(std::memory_order_acquire));
}

const char* phase_words(Phase phase) {
  switch (phase) {
    case Phase::kStarting:
      return "starting";
    case Phase::kComputing:
      return "computing";
    case Phase::kSending:
      return "sending to";
    case Phase::kReceiving:
      return "receiving from";
    case Phase::kBarrier:
      return "in a barrier with";
    case Phase::kReducing:
      return "in all-reduce with";
    case Phase::kGathering:
      return "gathering from";
    case Phase::kDone:
      return "done";
    case Phase::kFailed:
      return "failed";
  }
  return "?";
}

std::string activity(Phase phase, int64_t op, int peer) {
  std::string text = phase_words(phase);
  const bool with_peer = phase != Phase::kComputing && phase != Phase::kDone && phase != Phase::kFailed;
  if (with_peer && peer >= 0) text += fmt::format(" rank {}", peer);
  if (op >= 0) text += fmt::format(" in op {}", op);
  return text;
}

}  // namespace

void Board::enter(int rank, Phase phase, int64_t op, int peer) {
  RankState& state = states_[rank];
  state.op.store(op, std::memory_order_relaxed);
  state.peer.store(peer, std::memory_order_relaxed);
  state.progress.fetch_add(1, std::memory_order_relaxed);
  state.phase.store(static_cast<int32_t>(phase), std::memory_order_release);
}

void Board::fail(int rank, const std::string& reason) {
  RankState& state = states_[rank];
  if (phase_of(state) == Phase::kFailed) return;
  const size_t length = std::min(reason.size(), sizeof state.error - 1);
  std::memcpy(state.error, reason.data(), length);
  state.error[length] = 0;
  state.phase.store(static_cast<int32_t>(Phase::kFailed), std::memory_order_release);
}

std::string Board::describe(int rank) const {
  const RankState& state = states_[rank];
  return activity(phase_of(state), state.op.load(), state.peer.load());
}

void Board::condemn(const std::string& verdict) {
  const std::lock_guard lock(mutex_);
  if (condemned_) return;
  verdict_ = verdict;
  condemned_ = true;
}

std::optional<std::string> Board::verdict() const {
  if (!condemned_) return std::nullopt;
  const std::lock_guard lock(mutex_);
  return verdict_;
}

Board::Patience::Patience(Board& board, int rank, const Awaited& awaited)
    : board_(board), rank_(rank), awaited_(awaited), last_news_(Clock::now()), seen_progress_(0) {
  seen_progress_ = board_.state(awaited_.peer).progress.load();
}

std::string Board::Patience::prefix() const {
  return fmt::format("rank {}, {}", rank_, activity(awaited_.phase, awaited_.op, awaited_.peer));
}

std::optional<std::string> Board::Patience::judge() {
  if (const auto verdict = board_.verdict()) return fmt::format("{}: {}", prefix(), *verdict);
  for (int other = 0; other < board_.size(); ++other) {
    const RankState& state = board_.state(other);
    if (other != rank_ && phase_of(state) == Phase::kFailed) {
      return fmt::format("{}: rank {} failed ({})", prefix(), other, state.error);
    }
  }
  return judge_peer(Clock::now());
}

// True when the peer computes, or waits for a rank that does, and so on along the chain.
bool Board::Patience::somebody_computes() const {
  int at = awaited_.peer;
  for (int links = 0; links < board_.size() && at >= 0; ++links) {
    const RankState& state = board_.state(at);
    if (phase_of(state) == Phase::kComputing) return true;
    at = state.peer.load(std::memory_order_relaxed);
  }
  return false;
}

// As long as the chain of waits ends at a rank that computes, whose process is watched by its heartbeat, the
// message may come. Otherwise everybody waits for everybody, or for one who is done: it never will.
std::optional<std::string> Board::Patience::judge_peer(Clock::time_point now) {
  const RankState& peer = board_.state(awaited_.peer);
  const uint64_t progress = peer.progress.load(std::memory_order_relaxed);
  if (progress != seen_progress_ || somebody_computes()) {
    seen_progress_ = progress;
    last_news_ = now;
    return std::nullopt;
  }
  const double waited = std::chrono::duration<double>(now - last_news_).count();
  const bool done = phase_of(peer) == Phase::kDone;
  if (waited < (done ? kGraceAfterDone : board_.limits_.wait_seconds)) return std::nullopt;
  return fmt::format("{}: nothing came for {:.1f} s and rank {} does not get on ({})", prefix(), waited,
                     awaited_.peer, board_.describe(awaited_.peer));
}

}  // namespace counterpoise
