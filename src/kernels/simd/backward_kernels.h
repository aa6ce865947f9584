// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kernels/simd/backward_args.h"
#include "kernels/simd/register_tile.h"

// The backward kernels, once for every vector type.
namespace counterpoise {

// p and ds for up to `height` keys from `key` on; zero beyond the end and in vectors that take no part.
template <class V, int kFirst, int kLast>
inline void gradient_tile(const GradientArgs& a, int key) {
  using Reg = typename V::Reg;
  constexpr int kWidth = 3 * V::kLanes, kHeight = tile_height<V>(kLast - kFirst);
  SeparateRows<kHeight> k, v;
  for (int r = 0; r < kHeight; ++r) {
    const int x = key + r < a.end ? key + r : a.end - 1;
    k.p[r] = a.k + x * a.k_stride;
    v.p[r] = a.v + x * a.v_stride;
  }
  float* p = a.p + key * kWidth;
  float* ds = a.ds + key * kWidth;
  {
    Reg s[kHeight][3] = {};
    multiply_columns<V, kFirst, kLast>(k, a.q, a.dim, s);
#pragma GCC unroll 8
    for (int r = 0; r < kHeight; ++r)
      for (int n = kFirst; n < kLast; ++n) V::store(p + r * kWidth + n * V::kLanes, s[r][n]);
  }
  const bool cut = key + kHeight > a.end || key + kHeight - 1 > a.high || key < a.low + kWidth - 1;
  Reg dp[kHeight][3] = {};
  multiply_columns<V, kFirst, kLast>(v, a.dout, a.value_dim, dp);
#pragma GCC unroll 3
  for (int n = 0; n < 3; ++n) {
    const Reg lse = V::load(a.lse + n * V::kLanes), delta = V::load(a.delta + n * V::kLanes);
#pragma GCC unroll 8
    for (int r = 0; r < kHeight; ++r) {
      float* p_lanes = p + r * kWidth + n * V::kLanes;
      float* ds_lanes = ds + r * kWidth + n * V::kLanes;
      if (n < kFirst || n >= kLast) {
        V::store(p_lanes, V::zero());
        V::store(ds_lanes, V::zero());
        continue;
      }
      Reg x = V::sub(V::load(p_lanes), lse);
      if (cut) {
        const int first = key + r < a.end ? key + r - a.high - n * V::kLanes : kWidth;
        x = V::keep_lanes(x, first, key + r - a.low - n * V::kLanes, V::set(-__builtin_inff()));
      }
      x = exp_nonpositive<V>(x);
      V::store(p_lanes, x);
      V::store(ds_lanes, V::mul(x, V::sub(dp[r][n], delta)));
    }
  }
}

template <class V>
void gradients(const GradientArgs& a) {
  const ActiveVectors<V> active(a.rows, a.high, a.end);
  for (int key = a.begin; key < a.end;) {
    with_vectors(
        active.first(key), active.last, [&]<int kFirst, int kLast>() __attribute__((always_inline)) {
          gradient_tile<V, kFirst, kLast>(a, key);
          key += tile_height<V>(kLast - kFirst);
        });
  }
}

template <class V>
void key_gradients(const KeyGradientArgs& a) {
  constexpr int kWidth = 3 * V::kLanes, kRows = V::kOuterRows, kStrip = 2 * V::kLanes;
  const int64_t stride = static_cast<int64_t>(a.strip_count) * kStrip;
  for (int strip = 0; strip < a.strip_count; ++strip) {
    for (int key = a.begin; key < a.end; key += kRows) {
      float* c = a.c + key * stride + strip * kStrip;
      typename V::Reg acc[kRows][2];
      for (int r = 0; r < kRows; ++r)
        for (int n = 0; n < 2; ++n) acc[r][n] = V::load(c + r * stride + n * V::kLanes);
      for (int i = 0; i < a.panel_count; ++i) {
        const KeyGradientArgs::Panel& panel = a.panels[i];
        if (key < panel.begin || key >= panel.end) continue;
        // Queries before `first` and from `last` on see none of these keys.
        const int first = key > panel.high ? key - panel.high : 0;
        const int last = key + kRows - panel.low < panel.rows ? key + kRows - panel.low : panel.rows;
        multiply_tile<V>(StridedRows<kWidth, 1>{panel.weights + key * kWidth + first},
                         panel.strips + (strip * kWidth + first) * kStrip, last - first, acc);
      }
      for (int r = 0; r < kRows; ++r)
        for (int n = 0; n < 2; ++n) V::store(c + r * stride + n * V::kLanes, acc[r][n]);
    }
  }
}

template <class V>
void query_gradients(const QueryGradientArgs& a) {
  constexpr int kWidth = 3 * V::kLanes, kRows = V::kOuterRows, kStrip = 2 * V::kLanes;
  for (int column = 0; column < a.columns; column += kStrip) {
    for (int row = 0; row < a.rows; row += kRows) {
      // Keys that one of these queries may see.
      const int begin = a.low + row > a.begin ? a.low + row : a.begin;
      const int end = a.high + row + kRows < a.end ? a.high + row + kRows : a.end;
      if (begin >= end) continue;
      float* c = a.c + row * a.c_stride + column;
      const bool whole = row + kRows <= a.rows && column + kStrip <= a.columns;
      typename V::Reg acc[kRows][2];
      for (int r = 0; r < kRows; ++r)
        for (int n = 0; n < 2; ++n)
          acc[r][n] = whole ? V::load(c + r * a.c_stride + n * V::kLanes) : V::zero();
      multiply_tile<V>(StridedRows<1, kWidth>{a.ds + begin * kWidth + row},
                       a.strips + (static_cast<int64_t>(column) * a.keys + begin * kStrip), end - begin, acc);
      float edge[kRows * kStrip];
      float* to = whole ? c : edge;
      const int64_t to_stride = whole ? a.c_stride : kStrip;
      for (int r = 0; r < kRows; ++r)
        for (int n = 0; n < 2; ++n) V::store(to + r * to_stride + n * V::kLanes, acc[r][n]);
      if (whole) continue;
      for (int r = 0; r < kRows && row + r < a.rows; ++r)
        for (int x = 0; x < kStrip && column + x < a.columns; ++x)
          c[r * a.c_stride + x] += edge[r * kStrip + x];
    }
  }
}

template <class V>
void pack_strips(const float* from, int64_t stride, int rows, int room, int dim, float scale, float* to) {
  constexpr int kStrip = 2 * V::kLanes;
  const typename V::Reg factor = V::set(scale);
  for (int column = 0; column < dim; column += kStrip) {
    for (int row = 0; row < room; ++row, to += kStrip) {
      const float* x = from + row * stride + column;
      if (row < rows && column + kStrip <= dim) {
        for (int n = 0; n < 2; ++n) V::store(to + n * V::kLanes, V::mul(factor, V::load(x + n * V::kLanes)));
      } else {
        for (int i = 0; i < kStrip; ++i) to[i] = row < rows && column + i < dim ? scale * x[i] : 0.0f;
      }
    }
  }
}

template <class V>
bool all_finite(const float* from, int64_t stride, int rows, int dim) {
  typename V::Reg poison = V::zero();  // 0 * x is NaN for an infinite or NaN x
  float tail = 0;
  for (int row = 0; row < rows; ++row) {
    const float* x = from + row * stride;
    int i = 0;
    for (; i + V::kLanes <= dim; i += V::kLanes) poison = V::fma(V::load(x + i), V::zero(), poison);
    for (; i < dim; ++i) tail += x[i] * 0.0f;
  }
  float lanes[V::kLanes];
  V::store(lanes, poison);
  for (int n = 0; n < V::kLanes; ++n) tail += lanes[n];
  return tail == 0;
}

template <class V>
void lane_dots(const float* a, const float* b, int dim, float* out) {
  for (int n = 0; n < 3; ++n) {
    typename V::Reg sum = V::zero();
    for (int c = 0; c < dim; ++c)
      sum = V::fma(V::load(a + (c * 3 + n) * V::kLanes), V::load(b + (c * 3 + n) * V::kLanes), sum);
    V::store(out + n * V::kLanes, sum);
  }
}

template <class V>
constexpr BackwardKernels backward_kernels() {
  return {3 * V::kLanes,       2 * V::kLanes,   V::kOuterRows,  &gradients<V>, &key_gradients<V>,
          &query_gradients<V>, &pack_strips<V>, &all_finite<V>, &lane_dots<V>, &V::transpose};
}

}  // namespace counterpoise
