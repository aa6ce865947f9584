// SPDX-License-Identifier: Apache-2.0
#include "kernels/tiles/tile_block_runner.h"

#include <algorithm>
#include <numbers>

#include "kernels/simd/block_window.h"

namespace counterpoise {
namespace {

constexpr int64_t kWeightWords = int64_t{kMaxQueryPairs} * kChunks * kPairWords;

}  // namespace

TileBlockRunner::TileBlockRunner(const TileKernels& kernels, const AttentionProblem& problem,
                                 const BackwardTensors& tensors, const KvBlocks& kv,
                                 const QueryBlocks& queries, const TileQueries& packed)
    : kernels_(kernels),
      problem_(problem),
      tensors_(tensors),
      kv_(kv),
      queries_(queries),
      packed_(packed),
      q_pairs_(tile_pairs(problem.shape.head_dim)),
      v_pairs_(tile_pairs(problem.shape.v_head_dim)),
      keys_(int64_t{kChunks} * (2 * q_pairs_ + v_pairs_) * kPairWords),
      gradients_(int64_t{kChunks} * (q_pairs_ + v_pairs_) * kPairFloats),
      scratch_(4 * kPairFloats + 3 * kWeightWords) {
  args_.scale = static_cast<float>(problem.shape.softmax_scale * std::numbers::log2e);
  args_.steps = q_pairs_;
  args_.value_pairs = v_pairs_;
  args_.query_stride = TileQueries::floats_per_panel(problem.shape);
  args_.dk = gradients_.data();
  args_.scores = scratch_.data();
  args_.p = reinterpret_cast<uint32_t*>(args_.scores + 4 * kPairFloats);
  args_.ds = args_.p + kWeightWords;
  args_.ds_by_query = args_.ds + kWeightWords;
}

void TileBlockRunner::begin(const BackwardPlan::Item& item) {
  rows_ = kv_.rows(item.block);
  kv_head_ = item.kv_head;
  const int chunks = tile_pairs(rows_.size());
  uint32_t* k = reinterpret_cast<uint32_t*>(keys_.data());
  uint32_t* transposed = k + chunks * q_pairs_ * kPairWords;
  uint32_t* v = transposed + chunks * q_pairs_ * kPairWords;
  for (int chunk = 0; chunk < chunks; ++chunk) {
    const int64_t row = rows_.begin + chunk * kPairRows;
    const int count = static_cast<int>(std::min<int64_t>(kPairRows, rows_.end - row)),
              d = static_cast<int>(tensors_.k.dim), dv = static_cast<int>(tensors_.v.dim);
    const uint16_t* from = bfloat16_row(tensors_.k, row, kv_head_);
    kernels_.pack_left(from, tensors_.k.token_stride, count, d, k + chunk * q_pairs_ * kPairWords,
                       kPairWords);
    kernels_.pack_left_row_pairs(from, tensors_.k.token_stride, count, d, transposed + chunk * kPairWords,
                                 int64_t{chunks} * kPairWords);
    kernels_.pack_left(bfloat16_row(tensors_.v, row, kv_head_), tensors_.v.token_stride, count, dv,
                       v + chunk * v_pairs_ * kPairWords, kPairWords);
  }
  args_.chunks = chunks;
  args_.k = k;
  args_.k_transposed = transposed;
  args_.v = v;
  args_.dv = args_.dk + chunks * q_pairs_ * kPairFloats;
  std::fill_n(args_.dk, chunks * (q_pairs_ + v_pairs_) * kPairFloats, 0.0f);
}

void TileBlockRunner::attend(const BackwardPlan::Visit& visit) {
  const QueryBlocks::Block& block = queries_.blocks[visit.query_block];
  args_.window = block_window(problem_, *visit.tile, visit.keys, block.rows, rows_);
  const TileQueries::Panel first = packed_.panel(block.first_panel, visit.head);
  args_.q = first.q;
  args_.dout = first.dout;
  args_.q_rows = first.q_rows;
  args_.dout_rows = first.dout_rows;
  args_.lse = first.lse;
  args_.delta = first.delta;
  args_.dq = first.dq;
  kernels_.gradients(args_);
}

void TileBlockRunner::finish() {
  add_rows(args_.dk, q_pairs_, static_cast<float>(problem_.shape.softmax_scale), tensors_.dk);
  add_rows(args_.dv, v_pairs_, 1, tensors_.dv);
}

void TileBlockRunner::add_rows(const float* from, int pairs, float scale, const TensorView& to) const {
  for (int64_t i = 0; i < rows_.size(); ++i) {
    float* row = static_cast<float*>(row_address(to, rows_.begin + i, kv_head_));
    for (int64_t c = 0; c < to.dim; ++c) row[c] += scale * from[i * pairs * kPairRows + c];
  }
}

}  // namespace counterpoise
