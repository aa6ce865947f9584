// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "counterpoise/area.h"
#include "counterpoise/shard.h"

// The step plan: who holds which tokens, who computes which tile, which messages flow and in which order.
// A plain value (flat vectors and indices; no pointers, devices or clocks). The simulator and the executor
// read the same plan; verify.h checks it without trusting whoever made it.
namespace counterpoise {

// Half-open interval of heads: query heads for q-like payloads, kv heads for k/v-like ones.
struct HeadRange {
  int32_t begin = 0;
  int32_t end = 0;

  int32_t size() const { return end > begin ? end - begin : 0; }
  auto operator<=>(const HeadRange&) const = default;
};

// What attention computes, the same in every window of a plan. heads is a multiple of kv_heads; query head h
// reads kv head h / (heads / kv_heads).
struct AttentionShape {
  int32_t heads = 1;
  int32_t kv_heads = 1;
  int32_t head_dim = 64;
  int32_t v_head_dim = 64;
  int32_t element_bytes = 4;  // of q, k, v, out, dout as stored and sent; partial results are always float32
  Mask mask = Mask::causal();

  // The kv heads that the query heads `q` read.
  HeadRange kv_heads_of(HeadRange q) const;
  auto operator<=>(const AttentionShape&) const = default;
};

// Throws kUsage for a shape that cannot be.
void check_shape(const AttentionShape& shape);

// What one row (token) of a buffer or message carries, per head of its HeadRange. "storage" = element_bytes.
enum class Payload : uint8_t {
  kQ,        // q, storage
  kKv,       // k then v, storage, kv heads
  kPartial,  // out and lse of some of the keys, float32; identity is out = 0, lse = -inf
  kOut,      // out of all keys, cast to storage, and lse float32: what travels when nothing is left to merge
  kQBack,  // what backward needs of a query: q and dout (storage), lse and delta = sum(out * dout) (float32)
  kDq,     // dq, float32, summed
  kDkv,    // dk then dv, float32, summed, kv heads
};
inline constexpr int kPayloads = 7;
const char* payload_name(Payload payload);
bool counts_kv_heads(Payload payload);
// Bytes of one row and one head.
int64_t payload_bytes(const AttentionShape& shape, Payload payload);

// Tokens [range) of one document (index into WindowPlan::documents). `row` = rows before it in its list.
struct PlanPiece {
  int32_t document = 0;
  Range range;
  int64_t row = 0;
  auto operator<=>(const PlanPiece&) const = default;
};

// A list of pieces: a slice of WindowPlan::pieces, sorted by (document, begin), disjoint, none empty.
// Lists may share storage.
struct Pieces {
  int32_t first = 0;
  int32_t count = 0;
  auto operator<=>(const Pieces&) const = default;
};

// Rows that live on a rank: row-major (row, head, payload). Home buffers are the caller's own tensors: rows
// are the rank's tokens in local order, heads are all. The others exist from op `first_op` to op `last_op`
// (both included, indices into the rank's program). Result buffers (kPartial, kDq, kDkv that no message
// fills) start as identity.
struct Buffer {
  int32_t rank = 0;
  Payload payload = Payload::kQ;
  bool home = false;
  HeadRange heads;
  Pieces pieces;
  int64_t rows = 0;
  int64_t bytes = 0;
  int32_t first_op = 0;
  int32_t last_op = -1;  // -1: no op touches it
  auto operator<=>(const Buffer&) const = default;
};

// One message: the rows `pieces` x `heads`, read from buffer `from` on rank src, packed in list order,
// written into the same tokens and heads of buffer `into` on rank dst. Every piece lies inside one piece of
// either buffer. `payload` is the one of `into`; `from` may be kPartial where it is kOut (the sender casts).
// (src, dst, tag) is unique within a pass; tags are small and count up in the order the sender posts.
struct Transfer {
  int32_t src = 0;
  int32_t dst = 0;
  Payload payload = Payload::kQ;
  HeadRange heads;
  Pieces pieces;
  int32_t from = 0;
  int32_t into = 0;
  int32_t tag = 0;
  int64_t bytes = 0;
  auto operator<=>(const Transfer&) const = default;
};

// The unit of attention work: queries q x keys kv of one document for the query heads `heads`, masked in
// absolute positions. q lies inside one piece of q_buffer and of q_result, kv inside one piece of kv_buffer
// and of kv_result. Forward: q_buffer kQ, q_result kPartial (attended on top of what is there), kv_result -1.
// Backward: q_buffer kQBack, q_result kDq, kv_result kDkv; adds to both.
struct Tile {
  int32_t document = 0;
  int32_t rank = 0;
  Range q;
  Range kv;
  HeadRange heads;
  int32_t q_buffer = 0;
  int32_t kv_buffer = 0;
  int32_t q_result = 0;
  int32_t kv_result = -1;
  auto operator<=>(const Tile&) const = default;
};

// Adds all rows and heads of buffer `from` to the same tokens and heads of buffer `into` of the same rank:
// kPartial and kOut by log-sum-exp, kDq and kDkv by addition.
struct Merge {
  int32_t from = 0;
  int32_t into = 0;
  auto operator<=>(const Merge&) const = default;
};

enum class OpKind : uint8_t {
  kSend,    // posts transfer `index`: does not block; `from` must not change until its wait
  kRecv,    // posts the receive of transfer `index`: does not block; `into` is valid after its wait
  kWait,    // blocks until the posted transfer `index` is done on this side
  kAttend,  // computes tiles [index, index + count)
  kMerge,   // performs merge `index`
};
inline constexpr int kOpKinds = 5;
const char* op_name(OpKind kind);

struct Op {
  OpKind kind = OpKind::kSend;
  int32_t index = 0;
  int32_t count = 1;
  auto operator<=>(const Op&) const = default;
};

// Forward or backward of one window, all ranks of the group. An empty pass (no programs) was not asked for.
// Before backward every holder has computed delta of its own rows.
struct Pass {
  std::vector<Buffer> buffers;  // the home buffers come first, see home_buffer()
  std::vector<Transfer> transfers;
  std::vector<Tile> tiles;
  std::vector<Merge> merges;
  std::vector<Op> ops;            // rank r's program is [programs[r], programs[r + 1])
  std::vector<int32_t> programs;  // cp + 1 offsets

  std::span<const Op> program(int32_t rank) const {
    return std::span(ops).subspan(programs[rank], programs[rank + 1] - programs[rank]);
  }
  auto operator<=>(const Pass&) const = default;
};

// Home buffers per rank: forward kQ, kKv, kPartial; backward kQBack, kKv, kDq, kDkv. Index of one of them.
int32_t home_buffer(bool backward, int32_t rank, Payload payload);

struct PlanDocument {
  int64_t id = 0;
  int64_t length = 0;
  auto operator<=>(const PlanDocument&) const = default;
};

// One window (micro-batch) of a group: its documents, who holds what, both passes.
struct WindowPlan {
  std::vector<PlanDocument> documents;
  std::vector<PlanPiece> pieces;  // storage of all piece lists
  std::vector<Pieces> placement;  // per rank: the tokens it holds, in local order
  Pass forward;
  Pass backward;

  std::span<const PlanPiece> list(Pieces of) const { return std::span(pieces).subspan(of.first, of.count); }
  int64_t rows(Pieces of) const {
    if (of.count == 0) return 0;
    const PlanPiece& last = pieces[of.first + of.count - 1];
    return last.row + last.range.size();
  }
  auto operator<=>(const WindowPlan&) const = default;
};

// Row of token `position` of `document` within a list of pieces, -1 if it is not there. O(log pieces).
int64_t row_of(std::span<const PlanPiece> pieces, int32_t document, int64_t position);

struct GroupPlan {
  std::vector<WindowPlan> windows;  // processed one after another
  auto operator<=>(const GroupPlan&) const = default;
};

// One optimizer step: groups[g] runs on cp ranks; world = groups.size() * cp, CP ranks adjacent.
struct StepPlan {
  int32_t cp = 1;
  AttentionShape shape;
  std::string sharder;
  std::string scheme;
  uint64_t seed = 0;
  std::vector<GroupPlan> groups;

  int32_t dp() const { return static_cast<int32_t>(groups.size()); }
  auto operator<=>(const StepPlan&) const = default;
};

struct SchemeOptions {
  int32_t inner =
      0;  // ring2d: ranks per head exchange; double_ring: ranks per node; 0 = decided by the scheme
  auto operator<=>(const SchemeOptions&) const = default;
};

struct PlanRequest {
  std::vector<std::vector<std::vector<PlanDocument>>> groups;  // [group][window][document]
  int32_t cp = 1;
  AttentionShape shape;
  std::string sharder = "zigzag";
  std::string scheme = "ring";
  ShardOptions shard_options;
  SchemeOptions scheme_options;
  bool backward = false;
  uint64_t seed = 0;
};

// The plan of a request: shards every window, routes by the scheme, lowers both passes.
// Throws kUsage (unknown policy) or kInfeasible (value, rule, nearest legal choice). Deterministic.
StepPlan make_plan(const PlanRequest& request);

// Most bytes of buffers alive at once on `rank` during a pass, home buffers included.
int64_t peak_bytes(const Pass& pass, int32_t rank);

}  // namespace counterpoise
