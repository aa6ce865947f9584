// SPDX-License-Identifier: Apache-2.0
#include <cstring>
#include <string>

#include "counterpoise/error.h"
#include "counterpoise/execute.h"

namespace counterpoise {
namespace {

// FNV-1a, 64 bits (Fowler, Noll, Vo), fed with 64-bit words.
class Hash {
 public:
  void word(int64_t value) {
    for (int i = 0; i < 8; ++i) {
      state_ = (state_ ^ (static_cast<uint64_t>(value) >> (8 * i) & 0xff)) * 0x100000001b3ull;
    }
  }
  template <typename... Values>
  void words(Values... values) {
    (word(static_cast<int64_t>(values)), ...);
  }
  void text(const std::string& text) {
    word(static_cast<int64_t>(text.size()));
    for (const char c : text) word(c);
  }
  template <typename List, typename Each>
  void list(const List& items, const Each& each) {
    word(static_cast<int64_t>(items.size()));
    for (const auto& item : items) each(item);
  }
  std::string hex() const { return fmt::format("{:016x}", state_); }

 private:
  uint64_t state_ = 0xcbf29ce484222325ull;
};

void add(Hash& hash, const Pass& pass) {
  hash.list(pass.buffers, [&](const Buffer& b) {
    hash.words(b.rank, b.payload, b.home, b.heads.begin, b.heads.end, b.pieces.first, b.pieces.count, b.rows,
               b.bytes, b.first_op, b.last_op);
  });
  hash.list(pass.transfers, [&](const Transfer& t) {
    hash.words(t.src, t.dst, t.payload, t.heads.begin, t.heads.end, t.pieces.first, t.pieces.count, t.from,
               t.into, t.tag, t.bytes);
  });
  hash.list(pass.tiles, [&](const Tile& t) {
    hash.words(t.document, t.rank, t.q.begin, t.q.end, t.kv.begin, t.kv.end, t.heads.begin, t.heads.end,
               t.q_buffer, t.kv_buffer, t.q_result, t.kv_result);
  });
  hash.list(pass.merges, [&](const Merge& m) { hash.words(m.from, m.into); });
  hash.list(pass.ops, [&](const Op& op) { hash.words(op.kind, op.index, op.count); });
  hash.list(pass.programs, [&](int32_t offset) { hash.word(offset); });
}

void add(Hash& hash, const WindowPlan& window) {
  hash.list(window.documents, [&](const PlanDocument& d) { hash.words(d.id, d.length); });
  hash.list(window.pieces, [&](const auto& p) { hash.words(p.document, p.range.begin, p.range.end, p.row); });
  hash.list(window.placement, [&](const Pieces& p) { hash.words(p.first, p.count); });
  add(hash, window.forward);
  add(hash, window.backward);
}

}  // namespace

std::string plan_fingerprint(const StepPlan& plan) {
  Hash hash;
  const AttentionShape& s = plan.shape;
  hash.words(plan.cp, s.heads, s.kv_heads, s.head_dim, s.v_head_dim, s.element_bytes, s.mask.left,
             s.mask.right, plan.seed);
  hash.text(plan.sharder);
  hash.text(plan.scheme);
  hash.list(plan.groups, [&](const GroupPlan& group) {
    hash.list(group.windows, [&](const WindowPlan& window) { add(hash, window); });
  });
  return hash.hex();
}

void compare_plans(const StepPlan& plan, Communicator& world) {
  const std::string mine = plan_fingerprint(plan);
  const auto all = world.all_gather(std::as_bytes(std::span(mine)));
  const auto text = [](const std::vector<std::byte>& b) {
    return std::string(reinterpret_cast<const char*>(b.data()), b.size());
  };
  for (size_t rank = 1; rank < all.size(); ++rank) {
    if (all[rank] == all[0]) continue;
    throw_error(
        ErrorKind::kCheckFailed,
        "rank {} has plan {} but rank 0 has {}: all ranks need the same lengths, options, seed and build",
        rank, text(all[rank]), text(all[0]));
  }
}

}  // namespace counterpoise
