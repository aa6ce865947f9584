// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <tuple>

#include "plan/verify_pass.h"

namespace counterpoise::verifier {
namespace {

// A set of rows: disjoint pieces in document order.
class RowSet {
 public:
  int64_t rows() const { return rows_; }

  // False if some of the rows were in the set.
  bool add(std::span<const PlanPiece> pieces) {
    std::vector<Held> merged(held_.size() + pieces.size());
    const auto as_held = [](const PlanPiece& piece) {
      return Held{piece.document, piece.range.begin, piece.range.end};
    };
    size_t out = 0, old = 0;
    for (const PlanPiece& piece : pieces) {
      const Held next = as_held(piece);
      while (old < held_.size() && held_[old] < next) merged[out++] = held_[old++];
      merged[out++] = next;
      rows_ += next.end - next.begin;
    }
    while (old < held_.size()) merged[out++] = held_[old++];
    held_ = std::move(merged);
    for (size_t i = 1; i < held_.size(); ++i) {
      if (held_[i].document == held_[i - 1].document && held_[i].begin < held_[i - 1].end) return false;
    }
    return true;
  }

  bool covers(int32_t document, Range range) const {
    auto at = std::partition_point(held_.begin(), held_.end(), [&](const Held& held) {
      return std::tuple(held.document, held.end) <= std::tuple(document, range.begin);
    });
    int64_t reached = range.begin;
    for (; at != held_.end() && at->document == document && at->begin <= reached && reached < range.end;
         ++at) {
      reached = at->end;
    }
    return reached >= range.end;
  }

 private:
  struct Held {
    int32_t document;
    int64_t begin, end;
    auto operator<=>(const Held&) const = default;
  };
  std::vector<Held> held_;
  int64_t rows_ = 0;
};

bool is_result(Payload payload) {
  return payload != Payload::kQ && payload != Payload::kKv && payload != Payload::kQBack;
}

// What happened to a buffer so far.
struct State {
  bool arrives = false;  // some message fills it
  RowSet claimed;        // rows of posted receives
  RowSet arrived;        // rows of completed receives
  RowSet given;          // results: rows sent on or merged elsewhere
  int64_t written = 0;   // results: additions so far
};

class DataFlow {
 public:
  explicit DataFlow(const Case& c) : c_(c), states_(c.pass.buffers.size()) {
    for (const Transfer& transfer : c.pass.transfers) states_[transfer.into].arrives = true;
  }

  void check() {
    for (int32_t rank = 0; rank < c_.cp(); ++rank) {
      int32_t at = 0;
      for (const Op& op : c_.pass.program(rank)) check_op(rank, at++, op);
    }
    check_all_arrived();
    check_all_given();
    check_complete_rows();
  }

 private:
  const Buffer& buffer(int32_t i) const { return c_.pass.buffers[i]; }

  void check_op(int32_t rank, int32_t at, const Op& op) {
    const auto fail = [&](const char* rule, const char* what) {
      c_.findings.add(rule, "rank {} op {}: {}", rank, at, what);
    };
    if (op.kind == OpKind::kAttend) {
      for (int32_t i = op.index; i < op.index + op.count; ++i) check_tile(c_.pass.tiles[i], fail);
    } else if (op.kind == OpKind::kMerge) {
      check_merge(c_.pass.merges[op.index], fail);
    } else if (op.kind == OpKind::kSend) {
      check_send(c_.pass.transfers[op.index], fail);
    } else if (c_.pass.transfers[op.index].dst == rank) {
      const Transfer& transfer = c_.pass.transfers[op.index];
      State& into = states_[transfer.into];
      RowSet& rows = op.kind == OpKind::kRecv ? into.claimed : into.arrived;
      if (!rows.add(c_.list(transfer.pieces))) fail("data", "a message overwrites rows of another");
    }
  }

  template <typename Fail>
  void check_tile(const Tile& tile, const Fail& fail) {
    if (!present(tile.q_buffer, tile.document, tile.q))
      fail("data", "attends to queries that have not arrived");
    if (!present(tile.kv_buffer, tile.document, tile.kv))
      fail("data", "attends to keys that have not arrived");
    add_to(tile.q_result, tile.document, tile.q, fail);
    if (c_.backward) add_to(tile.kv_result, tile.document, tile.kv, fail);
  }

  bool present(int32_t index, int32_t document, Range range) const {
    if (buffer(index).home) return true;
    const State& state = states_[index];
    return state.arrived.rows() == buffer(index).rows || state.arrived.covers(document, range);
  }

  // Adding to rows that were given away already would be lost.
  template <typename Fail>
  void add_to(int32_t index, int32_t document, Range range, const Fail& fail) {
    State& state = states_[index];
    ++state.written;
    if (state.arrives) return fail("result", "adds to a buffer that a message fills");
    if (state.given.rows() == 0) return;
    RowSet given = state.given;
    const PlanPiece added{document, range, 0};
    if (!given.add(std::span(&added, 1))) fail("result", "adds to rows after they were sent on");
  }

  template <typename Fail>
  void check_send(const Transfer& transfer, const Fail& fail) {
    const Buffer& from = buffer(transfer.from);
    State& state = states_[transfer.from];
    if (!is_result(from.payload)) {
      for (const PlanPiece& piece : c_.list(transfer.pieces)) {
        if (!present(transfer.from, piece.document, piece.range))
          return fail("data", "sends rows that have not arrived");
      }
      return;
    }
    if (from.home) return fail("result", "sends results that are at home");
    if (state.arrives) return fail("result", "sends on what arrived instead of merging it");
    if (transfer.heads != from.heads) return fail("result", "sends some heads of a result only");
    if (!state.given.add(c_.list(transfer.pieces))) fail("result", "sends a result twice");
  }

  template <typename Fail>
  void check_merge(const Merge& merge, const Fail& fail) {
    const Buffer& from = buffer(merge.from);
    State& state = states_[merge.from];
    if (from.home) return fail("result", "merges results that are at home");
    if (state.arrives && state.arrived.rows() != from.rows)
      return fail("data", "merges rows that have not arrived");
    if (!state.given.add(c_.list(from.pieces))) fail("result", "merges a result twice");
    for (const PlanPiece& piece : c_.list(from.pieces)) add_to(merge.into, piece.document, piece.range, fail);
  }

  // A buffer that messages fill has no room for rows that never come: a short message shows even if nobody
  // reads them.
  void check_all_arrived() {
    for (size_t i = 0; i < states_.size(); ++i) {
      const Buffer& known = buffer(static_cast<int32_t>(i));
      if (states_[i].arrives && states_[i].arrived.rows() != known.rows) {
        c_.findings.add("message", "buffer {} of rank {}: {} of its {} rows arrive", i, known.rank,
                        states_[i].arrived.rows(), known.rows);
      }
    }
  }

  // What arrived must be merged; what was added to must be sent on or merged, unless it is at home.
  void check_all_given() {
    for (size_t i = 0; i < states_.size(); ++i) {
      const Buffer& known = buffer(static_cast<int32_t>(i));
      const State& state = states_[i];
      if (known.home || !is_result(known.payload) || state.given.rows() == known.rows) continue;
      if (state.arrives || !additions_given(static_cast<int32_t>(i))) {
        c_.findings.add("result", "buffer {} of rank {}: results do not reach their holder", i, known.rank);
      }
    }
  }

  bool additions_given(int32_t index) const {
    const RowSet& given = states_[index].given;
    for (const Tile& tile : c_.pass.tiles) {
      if (tile.q_result == index && !given.covers(tile.document, tile.q)) return false;
      if (c_.backward && tile.kv_result == index && !given.covers(tile.document, tile.kv)) return false;
    }
    for (const Merge& merge : c_.pass.merges) {
      if (merge.into != index) continue;
      for (const PlanPiece& piece : c_.list(buffer(merge.from).pieces)) {
        if (!given.covers(piece.document, piece.range)) return false;
      }
    }
    return true;
  }

  // kOut is cast to storage when sent, so nothing may be left to merge into its rows.
  void check_complete_rows() {
    const std::vector<std::vector<int32_t>> tiles = tiles_by_result();
    for (size_t i = 0; i < c_.pass.transfers.size(); ++i) {
      const Transfer& transfer = c_.pass.transfers[i];
      if (transfer.payload != Payload::kOut) continue;
      for (const PlanPiece& piece : c_.list(transfer.pieces)) {
        const Range all{0, c_.window.documents[piece.document].length};
        Wide pairs = Wide{count_pairs(piece.range, all, c_.plan.shape.mask)} * transfer.heads.size();
        for (int32_t t : tiles[transfer.from]) pairs -= pairs_in(c_.pass.tiles[t], piece);
        if (pairs != 0)
          return c_.findings.add("result", "transfer {}: out of some keys is sent as out of all", i);
      }
    }
  }

  std::vector<std::vector<int32_t>> tiles_by_result() const {
    std::vector<std::vector<int32_t>> tiles(c_.pass.buffers.size());
    if (c_.backward) return tiles;
    for (size_t i = 0; i < c_.pass.tiles.size(); ++i) {
      tiles[c_.pass.tiles[i].q_result].push_back(static_cast<int32_t>(i));
    }
    return tiles;
  }

  Wide pairs_in(const Tile& tile, const PlanPiece& piece) const {
    if (tile.document != piece.document) return 0;
    const Range q{std::max(tile.q.begin, piece.range.begin), std::min(tile.q.end, piece.range.end)};
    return Wide{count_pairs(q, tile.kv, c_.plan.shape.mask)} * (tile.heads.end - tile.heads.begin);
  }

  const Case& c_;
  std::vector<State> states_;
};

}  // namespace

void check_data(const Case& c) {
  DataFlow(c).check();
}

}  // namespace counterpoise::verifier
