// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <tuple>

#include "plan/verify_pass.h"

namespace counterpoise::verifier {
namespace {

// How often each side of a transfer did what.
struct Sides {
  int32_t sends = 0, recvs = 0, send_waits = 0, recv_waits = 0;
  bool waited_early = false;
};

class Messages {
 public:
  explicit Messages(const Case& c) : c_(c), sides_(c.pass.transfers.size()) {}

  void check() {
    count_ops();
    for (size_t i = 0; i < sides_.size(); ++i) {
      const Sides& s = sides_[i];
      if (s.sends != 1 || s.recvs != 1 || s.send_waits != 1 || s.recv_waits != 1) {
        c_.findings.add("message", "transfer {}: {} sends, {} receives, {} and {} waits; wanted one of each",
                        i, s.sends, s.recvs, s.send_waits, s.recv_waits);
      } else if (s.waited_early) {
        c_.findings.add("message", "transfer {}: waited for before it was posted", i);
      }
    }
    check_tags();
    if (c_.findings.none()) run_greedily();
  }

 private:
  // Every tile and merge performed once, by its own rank; every post and wait by one of the transfer's two
  // ranks.
  void count_ops() {
    std::vector<int32_t> computed(c_.pass.tiles.size(), 0), merged(c_.pass.merges.size(), 0);
    for (int32_t rank = 0; rank < c_.cp(); ++rank) {
      for (const Op& op : c_.pass.program(rank)) {
        if (op.kind == OpKind::kMerge) {
          ++merged[op.index];
          if (c_.pass.buffers[c_.pass.merges[op.index].into].rank != rank) wrong_rank(rank, op);
        } else if (op.kind == OpKind::kAttend) {
          for (int32_t i = op.index; i < op.index + op.count; ++i) {
            ++computed[i];
            if (c_.pass.tiles[i].rank != rank) wrong_rank(rank, op);
          }
        } else {
          count_post_or_wait(rank, op);
        }
      }
    }
    for (size_t i = 0; i < computed.size(); ++i) {
      if (computed[i] != 1) c_.findings.add("coverage", "tile {}: attended to {} times", i, computed[i]);
    }
    for (size_t i = 0; i < merged.size(); ++i) {
      if (merged[i] != 1) c_.findings.add("result", "merge {}: performed {} times", i, merged[i]);
    }
  }

  void wrong_rank(int32_t rank, const Op& op) {
    c_.findings.add("message", "rank {}: performs op {} {} of another rank", rank, static_cast<int>(op.kind),
                    op.index);
  }

  void count_post_or_wait(int32_t rank, const Op& op) {
    const Transfer& transfer = c_.pass.transfers[op.index];
    Sides& s = sides_[op.index];
    const bool sender = transfer.src == rank;
    const bool allowed = op.kind == OpKind::kSend   ? sender
                         : op.kind == OpKind::kRecv ? transfer.dst == rank
                                                    : sender || transfer.dst == rank;
    if (!allowed) return wrong_rank(rank, op);
    if (op.kind == OpKind::kSend) ++s.sends;
    if (op.kind == OpKind::kRecv) ++s.recvs;
    if (op.kind != OpKind::kWait) return;
    ++(sender ? s.send_waits : s.recv_waits);
    if ((sender ? s.sends : s.recvs) == 0) s.waited_early = true;
  }

  void check_tags() {
    std::vector<std::tuple<int32_t, int32_t, int32_t>> names;
    for (const Transfer& transfer : c_.pass.transfers) {
      if (transfer.tag < 0) c_.findings.add("message", "negative tag {}", transfer.tag);
      names.emplace_back(transfer.src, transfer.dst, transfer.tag);
    }
    std::sort(names.begin(), names.end());
    if (std::adjacent_find(names.begin(), names.end()) != names.end()) {
      c_.findings.add("message", "two messages of one sender to one receiver have the same tag");
    }
  }

  // Each rank goes on until a wait whose transfer lacks a post. Progress of one rank never takes another's
  // away, so if this gets stuck every interleaving does, and if it ends every interleaving ends.
  void run_greedily() {
    std::vector<int32_t> next(c_.cp(), 0), posts(c_.pass.transfers.size(), 0);
    for (bool moved = true; moved;) {
      moved = false;
      for (int32_t rank = 0; rank < c_.cp(); ++rank) {
        const std::span<const Op> program = c_.pass.program(rank);
        for (; next[rank] < static_cast<int32_t>(program.size()); ++next[rank]) {
          const Op& op = program[next[rank]];
          if (op.kind == OpKind::kWait && posts[op.index] < 2) break;
          if (op.kind == OpKind::kSend || op.kind == OpKind::kRecv) ++posts[op.index];
          moved = true;
        }
      }
    }
    for (int32_t rank = 0; rank < c_.cp(); ++rank) {
      if (next[rank] == static_cast<int32_t>(c_.pass.program(rank).size())) continue;
      c_.findings.add("deadlock", "rank {} waits forever at op {} for transfer {}", rank, next[rank],
                      c_.pass.program(rank)[next[rank]].index);
    }
  }

  const Case& c_;
  std::vector<Sides> sides_;
};

}  // namespace

void check_messages(const Case& c) {
  Messages(c).check();
}

}  // namespace counterpoise::verifier
