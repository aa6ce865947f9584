// SPDX-License-Identifier: Apache-2.0
// The attend op of AttentionKernel: tiles of a plan become calls of the attention kernels.
#include <algorithm>

#include "counterpoise/error.h"
#include "exec/attention_kernel.h"

namespace counterpoise {
namespace {

// The query heads `heads` by themselves; they fill whole groups of a kv head, or lie within one.
HeadShape head_shape(const AttentionShape& shape, HeadRange heads) {
  return {heads.size(), shape.kv_heads_of(heads).size(), shape.head_dim, shape.v_head_dim, 0};
}

// Cuts query heads into such ranges, as few as possible, or one per kv head.
std::vector<HeadRange> regular_heads(const AttentionShape& shape, HeadRange heads, bool each_kv_head) {
  const int32_t group = shape.heads / shape.kv_heads;
  std::vector<HeadRange> parts;
  for (int32_t begin = heads.begin; begin < heads.end;) {
    const int32_t group_end = std::min(heads.end, (begin / group + 1) * group);
    const bool whole_groups = begin % group == 0 && !each_kv_head;
    const int32_t last_whole = heads.end / group * group;
    const int32_t end = whole_groups && last_whole > begin ? last_whole : group_end;
    parts.push_back({begin, end});
    begin = end;
  }
  return parts;
}

// Rows are checked against the plan; the kernels only need a count that covers them.
constexpr int64_t kAnyRows = int64_t{1} << 40;

}  // namespace

bool AttentionKernel::Operands::operator==(const Operands& other) const {
  return q.data == other.q.data && kv.data == other.kv.data && q_result.data == other.q_result.data &&
         kv_result.data == other.kv_result.data && q_shift == other.q_shift && kv_shift == other.kv_shift &&
         heads == other.heads;
}

std::pair<AttentionTile, AttentionKernel::Operands> AttentionKernel::resolve(const Tile& tile) const {
  const auto [q, q_row] = locate(tile.q_buffer, tile.document, tile.q.begin);
  const auto [kv, kv_row] = locate(tile.kv_buffer, tile.document, tile.kv.begin);
  const auto [q_result, q_result_row] = locate(tile.q_result, tile.document, tile.q.begin);
  Operands operands{q, kv, q_result, {}, q_result_row - q_row, 0, tile.heads};
  if (tile.kv_result >= 0) {
    const auto [kv_result, kv_result_row] = locate(tile.kv_result, tile.document, tile.kv.begin);
    operands.kv_result = kv_result;
    operands.kv_shift = kv_result_row - kv_row;
  }
  return {{tile.q, tile.kv, {tile.heads.begin, tile.heads.end}, q_row, kv_row}, operands};
}

double AttentionKernel::attend(std::span<const Tile> tiles) {
  const double begin = cpu_now();
  std::vector<AttentionTile> batch;
  Operands operands;
  for (const Tile& tile : tiles) {
    const auto [task, wanted] = resolve(tile);
    if (!batch.empty() && !(wanted == operands)) {
      call(batch, operands);
      batch.clear();
    }
    operands = wanted;
    batch.push_back(task);
  }
  if (!batch.empty()) call(batch, operands);
  attend_seconds_ += cpu_now() - begin;
  return 0;
}

// Messages move only when somebody looks after them, so long work is cut by kv heads and they are looked
// after in between. Keys read in place need no care.
void AttentionKernel::call(std::span<AttentionTile> tiles, const Operands& operands) {
  const bool poll = !options_.in_place && group_.size() > 1;
  for (const HeadRange heads : regular_heads(plan_.shape, operands.heads, poll)) {
    for (AttentionTile& tile : tiles) tile.heads = {0, heads.size()};
    context_.backward ? call_backward(tiles, operands, heads) : call_forward(tiles, operands, heads);
    if (poll) group_.progress();
  }
}

void AttentionKernel::call_forward(std::span<const AttentionTile> tiles, const Operands& o, HeadRange heads) {
  const int64_t d = plan_.shape.head_dim, dv = plan_.shape.v_head_dim;
  const HeadRange kv_heads = plan_.shape.kv_heads_of(heads);
  ForwardTensors tensors;
  tensors.q = o.q.view(0, kAnyRows, heads, 0, d);
  tensors.k = o.kv.view(0, kAnyRows, kv_heads, 0, d);
  tensors.v = o.kv.view(0, kAnyRows, kv_heads, d, dv);
  tensors.out = o.q_result.view(o.q_shift, kAnyRows, heads, 0, dv);
  tensors.lse = o.q_result.view(o.q_shift, kAnyRows, heads, dv, 1);
  AttentionOptions options;
  options.isa = options_.isa;
  options.threads = options_.threads;
  options.accumulate = true;
  attention_forward(tiles, head_shape(plan_.shape, heads), plan_.shape.mask, tensors, options);
}

void AttentionKernel::call_backward(std::span<const AttentionTile> tiles, const Operands& o,
                                    HeadRange heads) {
  const int64_t d = plan_.shape.head_dim, dv = plan_.shape.v_head_dim;
  const HeadRange kv_heads = plan_.shape.kv_heads_of(heads);
  BackwardTensors tensors;
  tensors.q = o.q.view(0, kAnyRows, heads, 0, d);
  tensors.dout = o.q.view(0, kAnyRows, heads, d, dv);
  tensors.lse = o.q.view(0, kAnyRows, heads, d + dv, 1);
  tensors.delta = o.q.view(0, kAnyRows, heads, d + dv + 1, 1);
  tensors.k = o.kv.view(0, kAnyRows, kv_heads, 0, d);
  tensors.v = o.kv.view(0, kAnyRows, kv_heads, d, dv);
  tensors.dq = o.q_result.view(o.q_shift, kAnyRows, heads, 0, d);
  tensors.dk = o.kv_result.view(o.kv_shift, kAnyRows, kv_heads, 0, d);
  tensors.dv = o.kv_result.view(o.kv_shift, kAnyRows, kv_heads, d, dv);
  AttentionOptions options;
  options.isa = options_.isa;
  options.threads = options_.threads;
  attention_backward(tiles, head_shape(plan_.shape, heads), plan_.shape.mask, tensors, options);
}

}  // namespace counterpoise
