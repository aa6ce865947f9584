// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <limits>
#include <vector>

#include "counterpoise/parallel.h"
#include "kernels/dtype.h"
#include "kernels/rows/rows.h"
#include "kernels/strips.h"

namespace counterpoise {
namespace {

constexpr float kMinusInfinity = -std::numeric_limits<float>::infinity();

// The running state of one row's softmax (Milakov and Gimelshein 2018): out / sum is the result so far.
struct RowState {
  float max = kMinusInfinity;
  float sum = 0;
  std::vector<float> out;
};

// Adds the key with logit s and value row v.
void add_key(RowState& state, float s, const float* v) {
  if (s == kMinusInfinity) return;
  if (!(s <= state.max)) {  // also NaN, which then stays
    const float shrink = state.max == kMinusInfinity ? 0.0f : std::exp(state.max - s);
    for (float& x : state.out) x = shrink == 0 ? 0.0f : x * shrink;
    state.sum *= shrink;
    state.max = s;
  }
  const float p = std::exp(s - state.max);
  state.sum += p;
  for (size_t i = 0; i < state.out.size(); ++i) state.out[i] += p * v[i];
}

class RowKernel {
 public:
  RowKernel(const AttentionProblem& problem, const ForwardTensors& tensors)
      : problem_(problem),
        tensors_(tensors),
        scale_(static_cast<float>(problem.shape.softmax_scale)),
        q_(problem.shape.head_dim),
        k_(problem.shape.head_dim),
        v_(problem.shape.v_head_dim) {
    state_.out.resize(problem.shape.v_head_dim);
  }

  void run(const Strip& strip, int64_t row, int64_t head) {
    bool covered = false;
    for (const int t : strip.tiles) covered |= holds(problem_.tiles[t].heads, head);
    if (!covered) return;
    begin(row, head);
    for (const int t : strip.tiles)
      if (holds(problem_.tiles[t].heads, head)) add_tile(problem_.tiles[t], row, head);
    finish(row, head);
  }

 private:
  void begin(int64_t row, int64_t head) {
    load_row(row_address(tensors_.q, row, head), tensors_.q.dtype, problem_.shape.head_dim, q_.data());
    state_.max = kMinusInfinity;
    state_.sum = 0;
    std::fill(state_.out.begin(), state_.out.end(), 0.0f);
    const float before = *static_cast<const float*>(row_address(tensors_.lse, row, head));
    if (!problem_.accumulate || before == kMinusInfinity) return;
    load_row(row_address(tensors_.out, row, head), DType::kFloat32, problem_.shape.v_head_dim,
             state_.out.data());
    state_.max = before;
    state_.sum = 1;
  }

  void add_tile(const AttentionTile& tile, int64_t row, int64_t head) {
    const int64_t position = row + q_shift(tile), kv_head = head / problem_.group();
    const Range seen = intersect(tile.kv, visible_keys({position, position + 1}, tile.kv.end, problem_.mask));
    for (int64_t key = seen.begin; key < seen.end; ++key) {
      const int64_t kv_row = key - kv_shift(tile);
      load_row(row_address(tensors_.k, kv_row, kv_head), tensors_.k.dtype, problem_.shape.head_dim,
               k_.data());
      load_row(row_address(tensors_.v, kv_row, kv_head), tensors_.v.dtype, problem_.shape.v_head_dim,
               v_.data());
      float s = 0;
      for (size_t i = 0; i < q_.size(); ++i) s += q_[i] * k_[i];
      add_key(state_, s * scale_, v_.data());
    }
  }

  void finish(int64_t row, int64_t head) {
    const bool empty = state_.max == kMinusInfinity;
    for (float& x : state_.out) x = empty ? 0.0f : x / state_.sum;
    const float lse = empty ? kMinusInfinity : state_.max + std::log(state_.sum);
    store_row(state_.out.data(), problem_.shape.v_head_dim, row_address(tensors_.out, row, head),
              tensors_.out.dtype);
    *static_cast<float*>(row_address(tensors_.lse, row, head)) = lse;
  }

  const AttentionProblem& problem_;
  const ForwardTensors& tensors_;
  const float scale_;
  std::vector<float> q_, k_, v_;
  RowState state_;
};

}  // namespace

void rows_forward(const AttentionProblem& problem, const ForwardTensors& tensors) {
  constexpr int64_t kRowsPerItem = 64;
  struct Item {
    const Strip* strip;
    Range rows;
    int64_t head;
  };
  const std::vector<Strip> strips = strips_of(problem.tiles);
  std::vector<Item> items;
  for (const Strip& strip : strips)
    for (int64_t head = 0; head < problem.shape.heads; ++head)
      for (int64_t row = strip.rows.begin; row < strip.rows.end; row += kRowsPerItem)
        items.push_back({&strip, intersect(strip.rows, {row, row + kRowsPerItem}), head});
  parallel_for(static_cast<int64_t>(items.size()), problem.threads, [&](int64_t i) {
    RowKernel kernel(problem, tensors);
    for (int64_t row = items[i].rows.begin; row < items[i].rows.end; ++row)
      kernel.run(*items[i].strip, row, items[i].head);
  });
}

}  // namespace counterpoise
