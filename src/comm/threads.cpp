// SPDX-License-Identifier: Apache-2.0
#include <condition_variable>
#include <cstring>
#include <deque>
#include <exception>
#include <map>
#include <mutex>
#include <new>
#include <thread>
#include <unordered_map>

#include "comm/board.h"
#include "counterpoise/communicator.h"
#include "counterpoise/error.h"

namespace counterpoise {
namespace {

struct Operation {
  std::byte* into = nullptr;        // of a receive
  const std::byte* data = nullptr;  // of a send
  size_t size = 0;
  std::atomic<bool> done{false};
  bool wrong_size = false;  // set before done
  int source = -1, tag = 0;
};

using OperationPtr = std::shared_ptr<Operation>;

// Messages on their way to one rank: sends without a receive yet, and receives without a send yet.
struct Inbox {
  std::mutex mutex;
  std::condition_variable arrived;
  std::map<std::pair<int, int>, std::deque<OperationPtr>> sends, receives;  // by (source, tag)
};

constexpr std::align_val_t kLine{64};

// Shared memory of ranks that failed: others may still read it, so it lives until all ranks have ended.
class LeftMemory {
 public:
  void keep(std::byte* memory) {
    const std::lock_guard lock(mutex_);
    left_.emplace_back(memory);
  }

 private:
  struct Release {
    void operator()(std::byte* memory) const { ::operator delete(memory, kLine); }
  };
  std::mutex mutex_;
  std::vector<std::unique_ptr<std::byte, Release>> left_;
};

struct Hub {
  Hub(int ranks, RunLimits limits)
      : inboxes(static_cast<size_t>(ranks)),
        states(static_cast<size_t>(ranks)),
        board(states.data(), ranks, limits) {}
  std::vector<Inbox> inboxes;
  std::vector<RankState> states;
  Board board;
  LeftMemory left;
};

// Hands the data over; the caller holds the inbox's lock, so neither side can abandon meanwhile.
void deliver(Operation& send, Operation& receive) {
  receive.wrong_size = send.size != receive.size;
  if (!receive.wrong_size && send.size > 0) std::memcpy(receive.into, send.data, send.size);
  if (receive.wrong_size) receive.size = send.size;
  send.done.store(true, std::memory_order_release);
  receive.done.store(true, std::memory_order_release);
}

OperationPtr take(std::map<std::pair<int, int>, std::deque<OperationPtr>>& queues, int source, int tag) {
  const auto queue = queues.find({source, tag});
  if (queue == queues.end()) return nullptr;
  OperationPtr first = queue->second.front();
  queue->second.pop_front();
  if (queue->second.empty()) queues.erase(queue);
  return first;
}

class ThreadCommunicator final : public Communicator {
 public:
  ThreadCommunicator(Hub& hub, int rank) : hub_(hub), rank_(rank) {}
  ~ThreadCommunicator() override { abandon(); }

  int rank() const override { return rank_; }
  int size() const override { return static_cast<int>(hub_.inboxes.size()); }
  const char* name() const override { return "threads"; }
  Board& board() override { return hub_.board; }

  Request isend(int peer, int tag, std::span<const std::byte> data) override {
    CP_CHECK(peer >= 0 && peer < size());
    auto send = std::make_shared<Operation>();
    send->data = data.data();
    send->size = data.size();
    send->source = rank_;
    send->tag = tag;
    Inbox& inbox = hub_.inboxes[static_cast<size_t>(peer)];
    {
      const std::lock_guard lock(inbox.mutex);
      if (const OperationPtr receive = take(inbox.receives, rank_, tag)) {
        deliver(*send, *receive);
      } else {
        inbox.sends[{rank_, tag}].push_back(send);
      }
    }
    inbox.arrived.notify_all();
    return remember(std::move(send));
  }

  Request irecv(int peer, int tag, std::span<std::byte> into) override {
    CP_CHECK(peer >= 0 && peer < size());
    auto receive = std::make_shared<Operation>();
    receive->into = into.data();
    receive->size = into.size();
    receive->source = peer;
    receive->tag = tag;
    Inbox& inbox = hub_.inboxes[static_cast<size_t>(rank_)];
    bool delivered = false;
    {
      const std::lock_guard lock(inbox.mutex);
      if (const OperationPtr send = take(inbox.sends, peer, tag)) {
        deliver(*send, *receive);
        delivered = true;
      } else {
        inbox.receives[{peer, tag}].push_back(receive);
      }
    }
    if (delivered) hub_.inboxes[static_cast<size_t>(peer)].arrived.notify_all();
    return remember(std::move(receive));
  }

  bool test(Request request) override {
    const auto found = open_.find(request);
    CP_CHECK(found != open_.end());
    Operation& operation = *found->second;
    if (!operation.done.load(std::memory_order_acquire)) return false;
    if (operation.wrong_size) {
      throw_error(ErrorKind::kCheckFailed,
                  "rank {}: message {} from rank {} has {} bytes, which is not what was expected", rank_,
                  operation.tag, operation.source, operation.size);
    }
    open_.erase(found);
    return true;
  }

  void progress() override {}

  void idle() override {
    Inbox& inbox = hub_.inboxes[static_cast<size_t>(rank_)];
    std::unique_lock lock(inbox.mutex);
    inbox.arrived.wait_for(lock, std::chrono::microseconds(200));
  }

  void abandon() override {
    abandoned_ = true;
    for (Inbox& inbox : hub_.inboxes) {
      const std::lock_guard lock(inbox.mutex);
      const bool mine = &inbox == &hub_.inboxes[static_cast<size_t>(rank_)];
      if (mine) inbox.receives.clear();
      std::erase_if(inbox.sends, [&](const auto& queue) { return queue.first.first == rank_; });
    }
    open_.clear();
  }

  void reserve_shared(int64_t) override {}
  std::byte* allocate_shared(int64_t bytes) override {
    return static_cast<std::byte*>(::operator new(static_cast<size_t>(bytes), kLine));
  }
  void free_shared(std::byte* memory, int64_t) override {
    if (abandoned_) return hub_.left.keep(memory);
    ::operator delete(memory, kLine);
  }
  bool can_map(int) const override { return true; }
  uint64_t locate(const std::byte* memory) const override { return reinterpret_cast<uintptr_t>(memory); }
  const std::byte* map(int, uint64_t offset) const override {
    return reinterpret_cast<const std::byte*>(static_cast<uintptr_t>(offset));
  }

 private:
  Request remember(OperationPtr operation) {
    open_.emplace(next_, std::move(operation));
    return next_++;
  }

  Hub& hub_;
  int rank_;
  bool abandoned_ = false;
  Request next_ = 1;
  std::unordered_map<Request, OperationPtr> open_;
};

// Keeps the failure that came first; later ones are its echoes.
struct FirstFailure {
  std::mutex mutex;
  std::exception_ptr exception;
  void keep(std::exception_ptr failure) {
    const std::lock_guard lock(mutex);
    if (!exception) exception = std::move(failure);
  }
};

void run_rank(Hub& hub, int rank, const std::function<void(Communicator&)>& body, FirstFailure& failure) {
  ThreadCommunicator comm(hub, rank);
  try {
    comm.enter(Phase::kComputing);
    body(comm);
    comm.enter(Phase::kDone);
  } catch (const std::exception& error) {
    failure.keep(std::current_exception());
    comm.fail(error.what());
  }
}

}  // namespace

void run_on_threads(int ranks, const std::function<void(Communicator&)>& body, const RunLimits& limits) {
  CP_CHECK(ranks >= 1);
  Hub hub(ranks, limits);
  FirstFailure failure;
  std::vector<std::thread> threads;
  for (int rank = 1; rank < ranks; ++rank) {
    threads.emplace_back([&, rank] { run_rank(hub, rank, body, failure); });
  }
  run_rank(hub, 0, body, failure);
  for (std::thread& thread : threads) thread.join();
  if (failure.exception) std::rethrow_exception(failure.exception);
}

}  // namespace counterpoise
