// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <limits>
#include <vector>

#include "kernels/dtype.h"
#include "kernels/rows/rows.h"
#include "kernels/strips.h"

namespace counterpoise {
namespace {

// All rows of one key/value head: the only writer of its dk and dv, and of the dq of its query heads.
class HeadGradients {
 public:
  HeadGradients(const AttentionProblem& problem, const BackwardTensors& tensors, int64_t kv_head)
      : problem_(problem),
        tensors_(tensors),
        kv_head_(kv_head),
        scale_(static_cast<float>(problem.shape.softmax_scale)),
        q_(problem.shape.head_dim),
        k_(problem.shape.head_dim),
        v_(problem.shape.v_head_dim),
        dout_(problem.shape.v_head_dim),
        out_(problem.shape.v_head_dim) {}

  void add_tile(const AttentionTile& tile) {
    const Range group{kv_head_ * problem_.group(), (kv_head_ + 1) * problem_.group()};
    const Range heads = intersect(tile.heads, group);
    for (int64_t head = heads.begin; head < heads.end; ++head)
      for (int64_t position = tile.q.begin; position < tile.q.end; ++position) add_row(tile, position, head);
  }

 private:
  void add_row(const AttentionTile& tile, int64_t position, int64_t head) {
    const int64_t row = position - q_shift(tile);
    const float lse = *static_cast<const float*>(row_address(tensors_.lse, row, head));
    if (lse == -std::numeric_limits<float>::infinity()) return;  // no key was visible anywhere
    const HeadShape& shape = problem_.shape;
    load_row(row_address(tensors_.q, row, head), tensors_.q.dtype, shape.head_dim, q_.data());
    load_row(row_address(tensors_.dout, row, head), tensors_.dout.dtype, shape.v_head_dim, dout_.data());
    const float delta = delta_of(row, head);
    float* dq = static_cast<float*>(row_address(tensors_.dq, row, head));
    const Range seen = intersect(tile.kv, visible_keys({position, position + 1}, tile.kv.end, problem_.mask));
    for (int64_t key = seen.begin; key < seen.end; ++key) add_key(key - kv_shift(tile), lse, delta, dq);
  }

  // Of the row whose dout is loaded.
  float delta_of(int64_t row, int64_t head) {
    if (has_delta(tensors_)) return *static_cast<const float*>(row_address(tensors_.delta, row, head));
    load_row(row_address(tensors_.out, row, head), tensors_.out.dtype, problem_.shape.v_head_dim,
             out_.data());
    return dot(dout_, out_);
  }

  // p = exp(s - lse), dv += p dout, ds = p (dout . v - delta), dq += scale ds k, dk += scale ds q.
  void add_key(int64_t kv_row, float lse, float delta, float* dq) {
    const HeadShape& shape = problem_.shape;
    load_row(row_address(tensors_.k, kv_row, kv_head_), tensors_.k.dtype, shape.head_dim, k_.data());
    load_row(row_address(tensors_.v, kv_row, kv_head_), tensors_.v.dtype, shape.v_head_dim, v_.data());
    float* dk = static_cast<float*>(row_address(tensors_.dk, kv_row, kv_head_));
    float* dv = static_cast<float*>(row_address(tensors_.dv, kv_row, kv_head_));
    const float p = std::exp(dot(q_, k_) * scale_ - lse);
    const float ds = p * (dot(dout_, v_) - delta) * scale_;
    for (int64_t i = 0; i < shape.v_head_dim; ++i) dv[i] += p * dout_[i];
    for (int64_t i = 0; i < shape.head_dim; ++i) {
      dq[i] += ds * k_[i];
      dk[i] += ds * q_[i];
    }
  }

  static float dot(const std::vector<float>& a, const std::vector<float>& b) {
    float sum = 0;
    for (size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
    return sum;
  }

  const AttentionProblem& problem_;
  const BackwardTensors& tensors_;
  const int64_t kv_head_;
  const float scale_;
  std::vector<float> q_, k_, v_, dout_, out_;
};

}  // namespace

void rows_backward_head(const AttentionProblem& problem, const BackwardTensors& tensors, int64_t kv_head) {
  HeadGradients gradients(problem, tensors, kv_head);
  for (const AttentionTile& tile : problem.tiles) gradients.add_tile(tile);
}

}  // namespace counterpoise
