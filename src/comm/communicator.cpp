// SPDX-License-Identifier: Apache-2.0
#include "counterpoise/communicator.h"

#include <thread>

#include "comm/board.h"
#include "counterpoise/error.h"

namespace counterpoise {
namespace {

constexpr auto kJudgeEvery = std::chrono::milliseconds(5);
constexpr int kPollsBeforePause = 64;

}  // namespace

void Communicator::enter(Phase phase, int64_t op, int peer) {
  board().enter(world_rank(rank()), phase, op, peer < 0 ? -1 : world_rank(peer));
}

void Communicator::fail(const std::string& reason) {
  board().fail(world_rank(rank()), reason);
  abandon();
}

void Communicator::wait(Request request, const Awaited& awaited, double pause_seconds) {
  CP_CHECK(awaited.peer >= 0);  // a wait for nobody in particular could not be given up
  try {
    poll(request, awaited, pause_seconds);
  } catch (const std::exception& error) {
    fail(error.what());  // before the caller's buffers are freed on the way out
    throw;
  }
}

void Communicator::poll(Request request, const Awaited& awaited, double pause_seconds) {
  for (int attempt = 0; attempt < kPollsBeforePause; ++attempt) {
    if (test(request)) return;
  }
  enter(awaited.phase, awaited.op, awaited.peer);
  Awaited in_world = awaited;
  in_world.peer = world_rank(awaited.peer);
  Board::Patience patience(board(), world_rank(rank()), in_world);
  auto next_judgement = Board::Clock::now() + kJudgeEvery;
  while (!test(request)) {
    if (pause_seconds > 0)
      std::this_thread::sleep_for(std::chrono::duration<double>(pause_seconds));
    else
      idle();
    if (Board::Clock::now() < next_judgement) continue;
    next_judgement += kJudgeEvery;
    if (const auto reason = patience.judge()) throw Error(ErrorKind::kCheckFailed, *reason);
  }
  enter(Phase::kComputing, awaited.op);
}

}  // namespace counterpoise
