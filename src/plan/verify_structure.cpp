// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>
#include <tuple>

#include "plan/verify_pass.h"

namespace counterpoise::verifier {
namespace {

bool is_index(int32_t index, size_t size) {
  return index >= 0 && static_cast<size_t>(index) < size;
}

// A list inside the storage, sorted, disjoint, not empty anywhere, inside its documents, rows counted up from
// 0.
bool list_is_legal(const WindowPlan& window, Pieces list) {
  if (list.first < 0 || list.count < 0) return false;
  if (static_cast<size_t>(list.first) + list.count > window.pieces.size()) return false;
  int64_t row = 0;
  const PlanPiece* before = nullptr;
  for (const PlanPiece& piece : window.list(list)) {
    if (!is_index(piece.document, window.documents.size())) return false;
    const Range range = piece.range;
    if (range.begin < 0 || range.begin >= range.end || range.end > window.documents[piece.document].length)
      return false;
    if (piece.row != row) return false;
    row += range.end - range.begin;
    if (before != nullptr &&
        std::tuple(before->document, before->range.end) > std::tuple(piece.document, range.begin)) {
      return false;
    }
    before = &piece;
  }
  return true;
}

bool heads_are_legal(HeadRange heads, int32_t all) {
  return heads.begin >= 0 && heads.begin <= heads.end && heads.end <= all;
}
bool within(HeadRange inner, HeadRange outer) {
  return inner.begin >= outer.begin && inner.end <= outer.end;
}

// Row widths written out once more, so that a wrong table elsewhere shows.
int64_t bytes_per_row(const AttentionShape& shape, Payload payload) {
  const int64_t stored = shape.element_bytes, k = shape.head_dim, v = shape.v_head_dim;
  switch (payload) {
    case Payload::kQ:
      return stored * k;
    case Payload::kKv:
      return stored * k + stored * v;
    case Payload::kPartial:
      return 4 * v + 4;
    case Payload::kOut:
      return stored * v + 4;
    case Payload::kQBack:
      return stored * k + stored * v + 4 + 4;
    case Payload::kDq:
      return 4 * k;
    case Payload::kDkv:
      return 4 * k + 4 * v;
  }
  return -1;
}

bool of_kv_heads(Payload payload) {
  return payload == Payload::kKv || payload == Payload::kDkv;
}

bool payload_is_legal(Payload payload, bool backward) {
  switch (payload) {
    case Payload::kKv:
      return true;
    case Payload::kQ:
    case Payload::kPartial:
    case Payload::kOut:
      return !backward;
    case Payload::kQBack:
    case Payload::kDq:
    case Payload::kDkv:
      return backward;
  }
  return false;
}

class Structure {
 public:
  explicit Structure(const Case& c) : c_(c), shape_(c.plan.shape) {}

  void check() {
    for (size_t i = 0; i < c_.pass.buffers.size(); ++i) check_buffer(i);
    check_home_buffers();
    if (!c_.findings.none()) return;
    for (size_t i = 0; i < c_.pass.transfers.size(); ++i) check_transfer(i);
    for (size_t i = 0; i < c_.pass.merges.size(); ++i) check_merge(i);
    for (size_t i = 0; i < c_.pass.tiles.size(); ++i) check_tile(i);
    check_programs();
  }

 private:
  int64_t rows(Pieces list) const {
    int64_t sum = 0;
    for (const PlanPiece& piece : c_.list(list)) sum += piece.range.end - piece.range.begin;
    return sum;
  }

  Wide bytes(Pieces list, HeadRange heads, Payload payload) const {
    return Wide{rows(list)} * heads.size() * bytes_per_row(shape_, payload);
  }

  void check_buffer(size_t i) {
    const Buffer& buffer = c_.pass.buffers[i];
    const int32_t all_heads = of_kv_heads(buffer.payload) ? shape_.kv_heads : shape_.heads;
    if (!is_index(buffer.rank, c_.cp()))
      return c_.findings.add("structure", "buffer {}: rank {}", i, buffer.rank);
    if (!payload_is_legal(buffer.payload, c_.backward)) {
      return c_.findings.add("structure", "buffer {}: a payload that this pass does not know", i);
    }
    if (!heads_are_legal(buffer.heads, all_heads)) return c_.findings.add("structure", "buffer {}: heads", i);
    if (!list_is_legal(c_.window, buffer.pieces))
      return c_.findings.add("structure", "buffer {}: list of pieces", i);
    if (buffer.rows != rows(buffer.pieces) ||
        buffer.bytes != bytes(buffer.pieces, buffer.heads, buffer.payload)) {
      c_.findings.add("structure", "buffer {}: rows or bytes do not fit its pieces and heads", i);
    }
  }

  void check_home_buffers() {
    const std::vector<Payload> forward{Payload::kQ, Payload::kKv, Payload::kPartial};
    const std::vector<Payload> backward{Payload::kQBack, Payload::kKv, Payload::kDq, Payload::kDkv};
    const std::vector<Payload>& expected = c_.backward ? backward : forward;
    const size_t homes = expected.size() * c_.cp();
    if (c_.pass.buffers.size() < homes) return c_.findings.add("structure", "home buffers are missing");
    for (size_t i = 0; i < c_.pass.buffers.size(); ++i) {
      const Buffer& buffer = c_.pass.buffers[i];
      if (buffer.home != (i < homes))
        return c_.findings.add("structure", "buffer {}: home buffers come first", i);
      if (!buffer.home) continue;
      const size_t rank = i / expected.size();
      const int32_t heads = of_kv_heads(buffer.payload) ? shape_.kv_heads : shape_.heads;
      const bool right = buffer.rank == static_cast<int32_t>(rank) &&
                         buffer.payload == expected[i % expected.size()] &&
                         buffer.heads == HeadRange{0, heads} && buffer.pieces == c_.window.placement[rank];
      if (!right) c_.findings.add("structure", "buffer {} is not the home buffer it should be", i);
    }
  }

  // Every piece inside one piece of the buffer.
  bool contains(const Buffer& buffer, Pieces list) const {
    const std::span<const PlanPiece> outer = c_.list(buffer.pieces);
    size_t at = 0;
    for (const PlanPiece& piece : c_.list(list)) {
      while (at < outer.size() && std::tuple(outer[at].document, outer[at].range.end) <
                                      std::tuple(piece.document, piece.range.end)) {
        ++at;
      }
      if (at == outer.size() || outer[at].document != piece.document) return false;
      if (outer[at].range.begin > piece.range.begin) return false;
    }
    return true;
  }

  bool contains(const Buffer& buffer, int32_t document, Range range) const {
    const std::span<const PlanPiece> outer = c_.list(buffer.pieces);
    const auto piece = std::partition_point(outer.begin(), outer.end(), [&](const PlanPiece& p) {
      return std::tuple(p.document, p.range.end) < std::tuple(document, range.end);
    });
    return piece != outer.end() && piece->document == document && piece->range.begin <= range.begin;
  }

  void check_transfer(size_t i) {
    const Transfer& transfer = c_.pass.transfers[i];
    const size_t buffers = c_.pass.buffers.size();
    if (!is_index(transfer.from, buffers) || !is_index(transfer.into, buffers)) {
      return c_.findings.add("structure", "transfer {}: buffer index", i);
    }
    const Buffer& from = c_.pass.buffers[transfer.from];
    const Buffer& into = c_.pass.buffers[transfer.into];
    if (from.rank != transfer.src || into.rank != transfer.dst || transfer.src == transfer.dst) {
      return c_.findings.add("message", "transfer {}: {} -> {} but its buffers are on {} and {}", i,
                             transfer.src, transfer.dst, from.rank, into.rank);
    }
    const bool cast = from.payload == Payload::kPartial && transfer.payload == Payload::kOut;
    if (transfer.payload != into.payload || (transfer.payload != from.payload && !cast)) {
      return c_.findings.add("message", "transfer {}: payloads differ", i);
    }
    if (into.home) return c_.findings.add("message", "transfer {} overwrites a home buffer", i);
    if (transfer.heads != into.heads || !within(transfer.heads, from.heads)) {
      return c_.findings.add("message", "transfer {}: heads are not those of its buffers", i);
    }
    if (!list_is_legal(c_.window, transfer.pieces) || transfer.pieces.count == 0) {
      return c_.findings.add("message", "transfer {}: list of pieces", i);
    }
    if (!contains(from, transfer.pieces))
      c_.findings.add("message", "transfer {}: rows its sender does not have", i);
    if (!contains(into, transfer.pieces))
      c_.findings.add("message", "transfer {}: rows its receiver has no room for", i);
    if (transfer.bytes != bytes(transfer.pieces, transfer.heads, transfer.payload)) {
      c_.findings.add("message", "transfer {}: {} bytes do not fit its rows and heads", i, transfer.bytes);
    }
  }

  void check_merge(size_t i) {
    const Merge& merge = c_.pass.merges[i];
    const size_t buffers = c_.pass.buffers.size();
    if (!is_index(merge.from, buffers) || !is_index(merge.into, buffers)) {
      return c_.findings.add("structure", "merge {}: buffer index", i);
    }
    const Buffer& from = c_.pass.buffers[merge.from];
    const Buffer& into = c_.pass.buffers[merge.into];
    const bool partial = into.payload == Payload::kPartial &&
                         (from.payload == Payload::kPartial || from.payload == Payload::kOut);
    const bool gradient =
        into.payload == from.payload && (into.payload == Payload::kDq || into.payload == Payload::kDkv);
    if (from.rank != into.rank || merge.from == merge.into || !(partial || gradient)) {
      return c_.findings.add("result", "merge {}: buffers that cannot be merged", i);
    }
    if (!within(from.heads, into.heads) || !contains(into, from.pieces)) {
      c_.findings.add("result", "merge {}: rows or heads that the target does not have", i);
    }
  }

  void check_tile(size_t i) {
    const Tile& tile = c_.pass.tiles[i];
    if (!is_index(tile.document, c_.window.documents.size()) || tile.q.begin < 0 || tile.kv.begin < 0 ||
        tile.q.begin >= tile.q.end || tile.kv.begin >= tile.kv.end ||
        !heads_are_legal(tile.heads, shape_.heads) || tile.heads.begin == tile.heads.end) {
      return c_.findings.add("structure", "tile {}: document, ranges or heads", i);
    }
    const int32_t group = shape_.heads / shape_.kv_heads;
    const HeadRange kv_heads{tile.heads.begin / group, (tile.heads.end - 1) / group + 1};
    check_tile_buffer(i, tile.q_buffer, c_.backward ? Payload::kQBack : Payload::kQ, tile.q, tile.heads);
    check_tile_buffer(i, tile.kv_buffer, Payload::kKv, tile.kv, kv_heads);
    check_tile_buffer(i, tile.q_result, c_.backward ? Payload::kDq : Payload::kPartial, tile.q, tile.heads);
    if (c_.backward) {
      check_tile_buffer(i, tile.kv_result, Payload::kDkv, tile.kv, kv_heads);
    } else if (tile.kv_result != -1) {
      c_.findings.add("structure", "tile {}: forward has no gradient of keys", i);
    }
  }

  void check_tile_buffer(size_t i, int32_t index, Payload payload, Range range, HeadRange heads) {
    const Tile& tile = c_.pass.tiles[i];
    if (!is_index(index, c_.pass.buffers.size()))
      return c_.findings.add("structure", "tile {}: buffer index", i);
    const Buffer& buffer = c_.pass.buffers[index];
    if (buffer.rank != tile.rank || buffer.payload != payload) {
      return c_.findings.add("structure", "tile {}: buffer {} is of another rank or payload", i, index);
    }
    if (!contains(buffer, tile.document, range) || !within(heads, buffer.heads)) {
      c_.findings.add("data", "tile {}: buffer {} does not have document {} [{}, {})", i, index,
                      tile.document, range.begin, range.end);
    }
  }

  void check_programs() {
    const std::vector<int32_t>& programs = c_.pass.programs;
    if (programs.size() != static_cast<size_t>(c_.cp()) + 1 || programs.front() != 0 ||
        programs.back() != static_cast<int32_t>(c_.pass.ops.size()) ||
        !std::is_sorted(programs.begin(), programs.end())) {
      return c_.findings.add("structure", "the programs do not divide the ops among the ranks");
    }
    for (size_t i = 0; i < c_.pass.ops.size(); ++i) {
      const Op& op = c_.pass.ops[i];
      const bool attends = op.kind == OpKind::kAttend, merges = op.kind == OpKind::kMerge;
      const size_t bound = attends  ? c_.pass.tiles.size()
                           : merges ? c_.pass.merges.size()
                                    : c_.pass.transfers.size();
      const bool known = static_cast<int>(op.kind) < kOpKinds;
      if (!known || !is_index(op.index, bound) || op.count < 1 || (!attends && op.count != 1) ||
          static_cast<size_t>(op.index) + op.count > bound) {
        c_.findings.add("structure", "op {}: kind, index or count", i);
      }
    }
  }

  const Case& c_;
  const AttentionShape& shape_;
};

}  // namespace

void check_window(const StepPlan& plan, const WindowPlan& window, Findings& findings) {
  for (const PlanDocument& document : window.documents) {
    if (document.length < 0 || document.length > int64_t{1} << 31) {
      return findings.add("structure", "document {}: length {} is not in 0 ... 2^31", document.id,
                          document.length);
    }
  }
  if (window.placement.size() != static_cast<size_t>(plan.cp))
    return findings.add("structure", "placement of {} ranks", window.placement.size());
  std::vector<std::tuple<int32_t, int64_t, int64_t>> held;
  for (const Pieces& list : window.placement) {
    if (!list_is_legal(window, list)) return findings.add("structure", "a placement list is not legal");
    for (const PlanPiece& piece : window.list(list))
      held.emplace_back(piece.document, piece.range.begin, piece.range.end);
  }
  std::sort(held.begin(), held.end());
  size_t next = 0;
  for (size_t document = 0; document < window.documents.size(); ++document) {
    int64_t at = 0;
    while (next < held.size() && std::get<0>(held[next]) == static_cast<int32_t>(document) &&
           std::get<1>(held[next]) == at) {
      at = std::get<2>(held[next++]);
    }
    if (at != window.documents[document].length) {
      return findings.add("coverage", "document {}: its tokens from {} on are held by no rank or by two",
                          document, at);
    }
  }
  if (next != held.size()) findings.add("coverage", "tokens are held by two ranks");
}

void check_structure(const Case& c) {
  Structure(c).check();
}

}  // namespace counterpoise::verifier
