// SPDX-License-Identifier: Apache-2.0
#include "kernels/tiles/tile_queries.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace counterpoise {

TileQueries::TileQueries(const TileKernels& kernels, const AttentionProblem& problem,
                         const BackwardTensors& tensors, const QueryBlocks& queries, Range heads)
    : kernels_(kernels),
      problem_(problem),
      tensors_(tensors),
      queries_(queries),
      heads_(heads),
      q_pairs_(tile_pairs(problem.shape.head_dim)),
      v_pairs_(tile_pairs(problem.shape.v_head_dim)),
      buffer_(floats_per_panel(problem.shape) * static_cast<int64_t>(queries.panels.size()) * heads.size()) {
  for (size_t strip = 0; strip < queries.strips.size(); ++strip)
    for (int64_t block = queries.first_block[strip]; block < queries.first_block[strip + 1]; ++block)
      strip_of_panel_.insert(strip_of_panel_.end(), queries.blocks[block].panel_count,
                             static_cast<int64_t>(strip));
}

int64_t TileQueries::floats_per_panel(const HeadShape& shape) {
  const int64_t q_pairs = tile_pairs(shape.head_dim), v_pairs = tile_pairs(shape.v_head_dim);
  return 2 * (q_pairs + v_pairs) * kPairWords + 2 * kPairRows + q_pairs * kPairFloats;
}

TileQueries::Panel TileQueries::panel(int64_t panel, int64_t head) const {
  const int64_t count = static_cast<int64_t>(queries_.panels.size());
  float* at = buffer_.data() + ((head - heads_.begin) * count + panel) * floats_per_panel(problem_.shape);
  Panel p;
  p.q = reinterpret_cast<uint32_t*>(at);
  p.dout = p.q + q_pairs_ * kPairWords;
  p.q_rows = p.dout + v_pairs_ * kPairWords;
  p.dout_rows = p.q_rows + q_pairs_ * kPairWords;
  p.lse = at + 2 * (q_pairs_ + v_pairs_) * kPairWords;
  p.delta = p.lse + kPairRows;
  p.dq = p.delta + kPairRows;
  return p;
}

bool TileQueries::covered(int64_t panel, int64_t head) const {
  const Strip& strip = queries_.strips[strip_of_panel_[panel]];
  return std::any_of(strip.tiles.begin(), strip.tiles.end(),
                     [&](int t) { return holds(problem_.tiles[t].heads, head); });
}

void TileQueries::pack(int64_t index, int64_t head, TileHeads& heads) {
  const Range rows = queries_.panels[index];
  const int count = static_cast<int>(rows.size()), d = static_cast<int>(tensors_.q.dim),
            dv = static_cast<int>(tensors_.dout.dim);
  const Panel p = panel(index, head);
  const uint16_t* q = bfloat16_row(tensors_.q, rows.begin, head);
  const uint16_t* dout = bfloat16_row(tensors_.dout, rows.begin, head);
  const int64_t q_stride = tensors_.q.token_stride, dout_stride = tensors_.dout.token_stride;
  kernels_.pack_right(q, q_stride, count, d, p.q, kPairWords);
  kernels_.pack_right(dout, dout_stride, count, dv, p.dout, kPairWords);
  kernels_.pack_right_row_pairs(q, q_stride, count, d, p.q_rows, kPairWords);
  kernels_.pack_right_row_pairs(dout, dout_stride, count, dv, p.dout_rows, kPairWords);
  std::fill_n(p.dq, q_pairs_ * kPairFloats, 0.0f);
  const int64_t kv_head = head / problem_.group();
  heads.note(kv_head, TileHeads::kQ, kernels_.magnitude(q, q_stride, count, d));
  heads.note(kv_head, TileHeads::kDout, kernels_.magnitude(dout, dout_stride, count, dv));
  set_statistics(p, rows, head, heads);
}

void TileQueries::set_delta(const Panel& p, Range rows, int64_t head) const {
  if (has_delta(tensors_)) {
    std::fill_n(p.delta, kPairRows, 0.0f);
    for (int64_t i = 0; i < rows.size(); ++i)
      p.delta[i] = *static_cast<const float*>(row_address(tensors_.delta, rows.begin + i, head));
    return;
  }
  const ConstTensorView& out = tensors_.out;
  const int64_t columns = v_pairs_ * kPairRows;
  Buffer staging(kPairRows * columns);
  std::fill_n(staging.data(), kPairRows * columns, 0.0f);
  for (int64_t i = 0; i < rows.size(); ++i)
    load_row(row_address(out, rows.begin + i, head), out.dtype, out.dim, staging.data() + i * columns);
  kernels_.row_dots(p.dout, staging.data(), v_pairs_, p.delta);
}

// lse and delta; a row without keys takes no part, whatever its out holds.
void TileQueries::set_statistics(const Panel& p, Range rows, int64_t head, TileHeads& heads) const {
  set_delta(p, rows, head);
  std::fill_n(p.lse, kPairRows, std::numeric_limits<float>::infinity());
  for (int64_t i = 0; i < rows.size(); ++i) {
    const float lse = *static_cast<const float*>(row_address(tensors_.lse, rows.begin + i, head));
    if (lse == -std::numeric_limits<float>::infinity()) {
      p.delta[i] = 0;
      continue;
    }
    p.lse[i] = lse * std::numbers::log2e_v<float>;
    if (!std::isfinite(p.lse[i]) || !std::isfinite(p.delta[i])) heads.refuse(head / problem_.group());
  }
}

void TileQueries::add_query_gradients(int64_t index, int64_t head) const {
  const Range rows = queries_.panels[index];
  const int64_t columns = q_pairs_ * kPairRows;
  Buffer staging(kPairRows * columns);
  float scale[kPairRows];
  std::fill_n(scale, kPairRows, static_cast<float>(problem_.shape.softmax_scale));
  kernels_.rows_from_lanes(panel(index, head).dq, scale, q_pairs_, staging.data());
  for (int64_t i = 0; i < rows.size(); ++i) {
    float* dq = static_cast<float*>(row_address(tensors_.dq, rows.begin + i, head));
    for (int64_t c = 0; c < tensors_.dq.dim; ++c) dq[c] += staging.data()[i * columns + c];
  }
}

}  // namespace counterpoise
