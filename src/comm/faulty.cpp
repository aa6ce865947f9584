// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <unordered_set>

#include "counterpoise/communicator.h"
#include "counterpoise/error.h"
#include "counterpoise/random.h"

namespace counterpoise {
namespace {

using Clock = std::chrono::steady_clock;

struct Held {
  int peer, tag;
  std::vector<std::byte> data;
  Clock::time_point due;
};

class Faulty final : public Communicator {
 public:
  Faulty(Communicator& inner, const Faults& faults)
      : inner_(inner), faults_(faults), random_(faults.seed, static_cast<uint64_t>(inner.rank())) {}
  ~Faulty() override { flush(); }

  int rank() const override { return inner_.rank(); }
  int size() const override { return inner_.size(); }
  const char* name() const override { return inner_.name(); }

  // A copy is held back, so that the send is done at once for the caller (request -1).
  Request isend(int peer, int tag, std::span<const std::byte> data) override {
    const int64_t number = sends_++;
    if (number == faults_.die_at_send) die();
    if (number == faults_.drop_send) return kDone;
    const auto delay = std::chrono::duration<double>(random_.uniform() * faults_.delay_seconds);
    held_.push_back({peer,
                     tag,
                     {data.begin(), data.end()},
                     Clock::now() + std::chrono::duration_cast<Clock::duration>(delay)});
    return kDone;
  }
  Request irecv(int peer, int tag, std::span<std::byte> into) override {
    return inner_.irecv(peer, tag, into);
  }
  bool test(Request request) override {
    progress();
    return request == kDone || inner_.test(request);
  }
  void progress() override {
    release(Clock::now());
    inner_.progress();
    std::erase_if(sent_, [&](auto& message) { return inner_.test(message.first); });
  }
  void idle() override { inner_.idle(); }
  void abandon() override {
    inner_.abandon();
    held_.clear();
    sent_.clear();
  }
  void reserve_shared(int64_t bytes) override { inner_.reserve_shared(bytes); }
  std::byte* allocate_shared(int64_t bytes) override { return inner_.allocate_shared(bytes); }
  void free_shared(std::byte* memory, int64_t bytes) override { inner_.free_shared(memory, bytes); }
  bool can_map(int peer) const override { return inner_.can_map(peer); }
  uint64_t locate(const std::byte* memory) const override { return inner_.locate(memory); }
  const std::byte* map(int owner, uint64_t offset) const override { return inner_.map(owner, offset); }
  int world_rank(int rank) const override { return inner_.world_rank(rank); }
  Board& board() override { return inner_.board(); }

 private:
  static constexpr Request kDone = -1;

  void die() {
    if (faults_.at_death) faults_.at_death();
    abandon();  // the caller's buffers are about to go
    throw_error(ErrorKind::kCheckFailed, "rank {} died on purpose at send {}", rank(), faults_.die_at_send);
  }

  // Everything that is due leaves; in random order if asked, but in order per peer and tag.
  void release(Clock::time_point now) {
    std::vector<Held> due, later;
    for (Held& message : held_)
      (message.due <= now && !behind(later, message) ? due : later).push_back(std::move(message));
    held_ = std::move(later);
    while (!due.empty()) {
      size_t chosen = faults_.reorder ? random_.below(due.size()) : 0;
      for (size_t i = 0; i < chosen; ++i) {
        if (due[i].peer == due[chosen].peer && due[i].tag == due[chosen].tag) chosen = i;
      }
      post(std::move(due[chosen]));
      due.erase(due.begin() + static_cast<ptrdiff_t>(chosen));
    }
  }

  static bool behind(const std::vector<Held>& others, const Held& message) {
    for (const Held& other : others) {
      if (other.peer == message.peer && other.tag == message.tag) return true;
    }
    return false;
  }

  void post(Held message) {
    auto data = std::make_unique<std::vector<std::byte>>(std::move(message.data));
    const Request request = inner_.isend(message.peer, message.tag, *data);
    sent_.emplace_back(request, std::move(data));
  }

  // Messages on their way when the rank ends still arrive, as on a real network.
  void flush() {
    const auto deadline = Clock::now() + std::chrono::seconds(1);
    while (!(held_.empty() && sent_.empty()) && Clock::now() < deadline) {
      progress();
      inner_.idle();
    }
    if (!sent_.empty()) inner_.abandon();
  }

  Communicator& inner_;
  Faults faults_;
  RandomStream random_;
  int64_t sends_ = 0;
  std::vector<Held> held_;
  std::vector<std::pair<Request, std::unique_ptr<std::vector<std::byte>>>> sent_;
};

}  // namespace

std::unique_ptr<Communicator> make_faulty(Communicator& inner, const Faults& faults) {
  return std::make_unique<Faulty>(inner, faults);
}

}  // namespace counterpoise
