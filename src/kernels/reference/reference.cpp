// SPDX-License-Identifier: Apache-2.0
#include "kernels/reference/reference.h"

#include <cmath>
#include <limits>

#include "kernels/dtype.h"

namespace counterpoise {
namespace {

// A tensor widened to Real, contiguous [tokens][heads][dim].
template <typename Real>
struct Dense {
  int64_t heads, dim;
  std::vector<Real> data;

  explicit Dense(const ConstTensorView& t) : heads(t.heads), dim(t.dim), data(t.tokens * t.heads * t.dim) {
    std::vector<float> row(t.dim);
    for (int64_t token = 0; token < t.tokens; ++token) {
      for (int64_t head = 0; head < t.heads; ++head) {
        load_row(row_address(t, token, head), t.dtype, t.dim, row.data());
        for (int64_t i = 0; i < t.dim; ++i) data[(token * heads + head) * dim + i] = row[i];
      }
    }
  }
  const Real* row(int64_t token, int64_t head) const { return &data[(token * heads + head) * dim]; }
};

template <typename Real>
Real dot(const Real* a, const Real* b, int64_t count) {
  Real sum = 0;
  for (int64_t i = 0; i < count; ++i) sum += a[i] * b[i];
  return sum;
}

template <typename Real>
void raise(Real& largest, Real term) {
  if (std::abs(term) > largest) largest = std::abs(term);
}

// Rows of k and v that (row, head) of q sees through any of the tiles.
std::vector<int64_t> visible_rows(std::span<const AttentionTile> tiles, Mask mask, int64_t row,
                                  int64_t head) {
  std::vector<int64_t> rows;
  for (const AttentionTile& tile : tiles) {
    if (head < tile.heads.begin || head >= tile.heads.end) continue;
    const int64_t position = tile.q.begin + (row - tile.q_row);
    if (position < tile.q.begin || position >= tile.q.end) continue;
    for (int64_t key = tile.kv.begin; key < tile.kv.end; ++key)
      if (mask.visible(position, key)) rows.push_back(tile.kv_row + (key - tile.kv.begin));
  }
  return rows;
}

}  // namespace

template <typename Real>
ReferenceOutput<Real> reference_forward(std::span<const AttentionTile> tiles, const HeadShape& shape,
                                        Mask mask, const ConstTensorView& q_view,
                                        const ConstTensorView& k_view, const ConstTensorView& v_view) {
  constexpr Real kMinusInfinity = -std::numeric_limits<Real>::infinity();
  const Dense<Real> q(q_view), k(k_view), v(v_view);
  const Real scale = static_cast<Real>(shape.scale());
  const int64_t d = shape.head_dim, dv = shape.value_dim();
  ReferenceOutput<Real> result{std::vector<Real>(q_view.tokens * shape.heads * dv),
                               std::vector<Real>(q_view.tokens * shape.heads, kMinusInfinity)};
  for (int64_t row = 0; row < q_view.tokens; ++row) {
    for (int64_t head = 0; head < shape.heads; ++head) {
      const int64_t kv_head = head / (shape.heads / shape.kv_heads);
      const std::vector<int64_t> keys = visible_rows(tiles, mask, row, head);
      std::vector<Real> p(keys.size());
      Real max = kMinusInfinity, sum = 0;
      for (size_t i = 0; i < keys.size(); ++i) {
        p[i] = scale * dot(q.row(row, head), k.row(keys[i], kv_head), d);
        if (!(p[i] <= max)) max = p[i];  // a NaN wins
      }
      if (max == kMinusInfinity) continue;
      for (Real& x : p) sum += x = std::exp(x - max);
      Real* out = &result.out[(row * shape.heads + head) * dv];
      for (size_t i = 0; i < keys.size(); ++i)
        for (int64_t c = 0; c < dv; ++c) out[c] += p[i] / sum * v.row(keys[i], kv_head)[c];
      result.lse[row * shape.heads + head] = max + std::log(sum);
    }
  }
  return result;
}

template <typename Real>
ReferenceGradients<Real> reference_backward(std::span<const AttentionTile> tiles, const HeadShape& shape,
                                            Mask mask, const ConstTensorView& q_view,
                                            const ConstTensorView& k_view, const ConstTensorView& v_view,
                                            const ConstTensorView& dout_view,
                                            const ReferenceOutput<Real>& output) {
  const Dense<Real> q(q_view), k(k_view), v(v_view), dout(dout_view);
  const Real scale = static_cast<Real>(shape.scale());
  const int64_t d = shape.head_dim, dv = shape.value_dim();
  ReferenceGradients<Real> result{std::vector<Real>(q.data.size()),
                                  std::vector<Real>(k.data.size()),
                                  std::vector<Real>(v.data.size()),
                                  0,
                                  0,
                                  0};
  for (int64_t row = 0; row < q_view.tokens; ++row) {
    for (int64_t head = 0; head < shape.heads; ++head) {
      const int64_t kv_head = head / (shape.heads / shape.kv_heads);
      const Real lse = output.lse[row * shape.heads + head];
      if (lse == -std::numeric_limits<Real>::infinity()) continue;
      const Real delta = dot(&output.out[(row * shape.heads + head) * dv], dout.row(row, head), dv);
      Real* dq = &result.dq[(row * shape.heads + head) * d];
      for (const int64_t key : visible_rows(tiles, mask, row, head)) {
        const Real p = std::exp(scale * dot(q.row(row, head), k.row(key, kv_head), d) - lse);
        const Real dp = dot(dout.row(row, head), v.row(key, kv_head), dv);
        const Real ds = scale * p * (dp - delta), ds_terms = scale * p * (std::abs(dp) + std::abs(delta));
        Real* dk = &result.dk[(key * shape.kv_heads + kv_head) * d];
        Real* dv_row = &result.dv[(key * shape.kv_heads + kv_head) * dv];
        for (int64_t c = 0; c < dv; ++c) {
          dv_row[c] += p * dout.row(row, head)[c];
          raise(result.largest_dv_term, p * dout.row(row, head)[c]);
        }
        for (int64_t c = 0; c < d; ++c) {
          dq[c] += ds * k.row(key, kv_head)[c];
          dk[c] += ds * q.row(row, head)[c];
          raise(result.largest_dq_term, ds_terms * k.row(key, kv_head)[c]);
          raise(result.largest_dk_term, ds_terms * q.row(row, head)[c]);
        }
      }
    }
  }
  return result;
}

#define COUNTERPOISE_INSTANTIATE(Real)                                                                     \
  template ReferenceOutput<Real> reference_forward<Real>(std::span<const AttentionTile>, const HeadShape&, \
                                                         Mask, const ConstTensorView&,                     \
                                                         const ConstTensorView&, const ConstTensorView&);  \
  template ReferenceGradients<Real> reference_backward<Real>(                                              \
      std::span<const AttentionTile>, const HeadShape&, Mask, const ConstTensorView&,                      \
      const ConstTensorView&, const ConstTensorView&, const ConstTensorView&, const ReferenceOutput<Real>&);
COUNTERPOISE_INSTANTIATE(double)
COUNTERPOISE_INSTANTIATE(float)

}  // namespace counterpoise
