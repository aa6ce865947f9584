// SPDX-License-Identifier: Apache-2.0
#include "counterpoise/communicator.h"
#include "counterpoise/error.h"

namespace counterpoise {
namespace {

// A view: the parent does the work, ranks are shifted.
class Group final : public Communicator {
 public:
  Group(Communicator& parent, int first, int size) : parent_(parent), first_(first), size_(size) {}

  int rank() const override { return parent_.rank() - first_; }
  int size() const override { return size_; }
  const char* name() const override { return parent_.name(); }
  Request isend(int peer, int tag, std::span<const std::byte> data) override {
    return parent_.isend(inside(peer), tag, data);
  }
  Request irecv(int peer, int tag, std::span<std::byte> into) override {
    return parent_.irecv(inside(peer), tag, into);
  }
  bool test(Request request) override { return parent_.test(request); }
  void progress() override { parent_.progress(); }
  void idle() override { parent_.idle(); }
  void abandon() override { parent_.abandon(); }
  void reserve_shared(int64_t bytes) override { parent_.reserve_shared(bytes); }
  std::byte* allocate_shared(int64_t bytes) override { return parent_.allocate_shared(bytes); }
  void free_shared(std::byte* memory, int64_t bytes) override { parent_.free_shared(memory, bytes); }
  bool can_map(int peer) const override { return parent_.can_map(inside(peer)); }
  uint64_t locate(const std::byte* memory) const override { return parent_.locate(memory); }
  const std::byte* map(int owner, uint64_t offset) const override {
    return parent_.map(inside(owner), offset);
  }
  int world_rank(int rank) const override { return parent_.world_rank(inside(rank)); }
  Board& board() override { return parent_.board(); }

 private:
  int inside(int peer) const {
    CP_CHECK(peer >= 0 && peer < size_);
    return first_ + peer;
  }

  Communicator& parent_;
  int first_;
  int size_;
};

}  // namespace

std::unique_ptr<Communicator> make_group(Communicator& parent, int first, int size) {
  CP_CHECK(first >= 0 && size >= 1 && first + size <= parent.size());
  CP_CHECK(parent.rank() >= first && parent.rank() < first + size);
  return std::make_unique<Group>(parent, first, size);
}

}  // namespace counterpoise
