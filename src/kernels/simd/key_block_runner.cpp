// SPDX-License-Identifier: Apache-2.0
#include "kernels/simd/key_block_runner.h"

#include <algorithm>

#include "kernels/simd/block_window.h"

namespace counterpoise {
namespace {

int64_t round_down(int64_t x, int64_t step) {
  return x / step * step;
}

}  // namespace

KeyBlockRunner::KeyBlockRunner(const BackwardKernels& kernels, const AttentionProblem& problem,
                               const BackwardTensors& tensors, const KvBlocks& kv, const QueryBlocks& queries,
                               const PackedQueries& packed)
    : kernels_(kernels),
      problem_(problem),
      tensors_(tensors),
      kv_(kv),
      queries_(queries),
      packed_(packed),
      max_keys_(std::max(kernels.keys, kernels.wide_keys)),
      k_columns_(round_up(problem.shape.head_dim, kernels.lanes)),
      v_columns_(round_up(problem.shape.v_head_dim, kernels.lanes)),
      weights_floats_((max_keys_ + 16) * kernels.width),
      memory_(2 * kernels.panels * weights_floats_ + 2 * max_keys_ * k_columns_ + max_keys_ * v_columns_ +
              max_keys_ * (problem.shape.head_dim + problem.shape.v_head_dim)),
      weights_(memory_.data()),
      k_strips_(weights_ + 2 * kernels.panels * weights_floats_),
      dk_(k_strips_ + max_keys_ * k_columns_),
      dv_(dk_ + max_keys_ * k_columns_),
      staging_(dv_ + max_keys_ * v_columns_) {}

void KeyBlockRunner::begin(const BackwardPlan::Item& item) {
  rows_ = kv_.rows(item.block);
  kv_head_ = item.kv_head;
  k_ = float_rows(tensors_.k, rows_, kv_head_, staging_);
  v_ = float_rows(tensors_.v, rows_, kv_head_, staging_ + max_keys_ * problem_.shape.head_dim);
  kernels_.pack_strips(k_.data, k_.stride, keys(), keys(), dim(),
                       static_cast<float>(problem_.shape.softmax_scale), k_strips_);
  const int64_t sums = round_up(rows_.size(), kernels_.outer_rows);
  std::fill_n(dk_, sums * k_columns_, 0.0f);
  std::fill_n(dv_, sums * v_columns_, 0.0f);
}

void KeyBlockRunner::attend(const BackwardPlan::Visit& visit) {
  const QueryBlocks::Block& block = queries_.blocks[visit.query_block];
  panel_count_ = 0;
  for (int64_t i = 0; i < block.panel_count; ++i) attend_panel(visit, block.first_panel + i);
  KeyGradientArgs args{dv_panels_, panel_count_, keys(), 0, static_cast<int>(v_columns_), dv_};
  for (int i = 0; i < panel_count_; ++i) {
    args.begin = std::min(args.begin, dv_panels_[i].begin);
    args.end = std::max(args.end, dv_panels_[i].end);
  }
  kernels_.key_gradients(args);
  args.panels = dk_panels_;
  args.columns = static_cast<int>(k_columns_);
  args.c = dk_;
  kernels_.key_gradients(args);
}

void KeyBlockRunner::attend_panel(const BackwardPlan::Visit& visit, int64_t index) {
  const Range rows = queries_.panels[index];
  const BlockWindow window = block_window(problem_, *visit.tile, visit.keys, rows, rows_);
  if (window.rows == 0) return;
  const PackedQueries::Panel packed = packed_.panel(index, visit.head);
  GradientArgs args;
  args.q = packed.q;
  args.k = k_.data;
  args.dout = packed.dout;
  args.v = v_.data;
  args.k_stride = k_.stride;
  args.v_stride = v_.stride;
  args.dim = dim();
  args.value_dim = static_cast<int>(problem_.shape.v_head_dim);
  args.begin = window.begin;
  args.end = window.end;
  args.low = window.low;
  args.high = window.high;
  args.rows = window.rows;
  args.lse = packed.lse;
  args.delta = packed.delta;
  args.p = weights_ + 2 * panel_count_ * weights_floats_;
  args.ds = args.p + weights_floats_;
  kernels_.gradients(args);

  // key_gradients works in whole tiles: the rest of the first and the last are zero.
  const int begin = static_cast<int>(round_down(args.begin, kernels_.outer_rows));
  const int end = static_cast<int>(round_up(args.end, kernels_.outer_rows));
  for (float* weights : {args.p, args.ds}) {
    std::fill(weights + begin * kernels_.width, weights + args.begin * kernels_.width, 0.0f);
    std::fill(weights + args.end * kernels_.width, weights + end * kernels_.width, 0.0f);
  }
  dv_panels_[panel_count_] = {args.p, packed.dout_strips, begin, end, args.low, args.high, args.rows};
  dk_panels_[panel_count_] = {args.ds, packed.q_strips, begin, end, args.low, args.high, args.rows};
  panels_[panel_count_] = {rows, visit.head, args.begin, args.end, args.low, args.high};
  ++panel_count_;
}

void KeyBlockRunner::add_query_gradients() {
  const TensorView& dq = tensors_.dq;
  for (int i = 0; i < panel_count_; ++i) {
    const PanelKeys& panel = panels_[i];
    kernels_.query_gradients({dk_panels_[i].weights, k_strips_, keys(), panel.begin, panel.end, panel.low,
                              panel.high, static_cast<int>(panel.rows.size()), dim(),
                              static_cast<float*>(row_address(dq, panel.rows.begin, panel.head)),
                              dq.token_stride});
  }
}

void KeyBlockRunner::finish() {
  add_rows(dk_, k_columns_, tensors_.dk);
  add_rows(dv_, v_columns_, tensors_.dv);
}

void KeyBlockRunner::add_rows(const float* from, int64_t stride, const TensorView& to) const {
  kernels_.add_rows(from, stride, keys(), static_cast<int>(to.dim),
                    static_cast<float*>(row_address(to, rows_.begin, kv_head_)), to.token_stride);
}

}  // namespace counterpoise
