// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kernels/simd/kernels.h"
#include "kernels/simd/register_tile.h"

// The forward kernels, once for every vector type.
namespace counterpoise {

// p = s for the keys of the block, masked keys -inf; returns the running maximum.
template <class V>
inline void score_tiles(const ScoreArgs& a, typename V::Reg (&top)[3]) {
  using Reg = typename V::Reg;
  constexpr int kWidth = 3 * V::kLanes;
  for (int n = 0; n < 3; ++n) top[n] = V::load(a.max + n * V::kLanes);
  for (int key = a.begin; key < a.end; key += V::kRows) {
    // Beyond the end the last key is repeated: its logit changes no maximum and is never read.
    SeparateRows<V::kRows> rows;
    for (int r = 0; r < V::kRows; ++r) rows.p[r] = a.k + (key + r < a.end ? key + r : a.end - 1) * a.k_stride;
    Reg acc[V::kRows][3] = {};
    multiply_tile<V>(rows, a.q, a.dim, acc);
    if (key + V::kRows - 1 > a.high || key < a.low + kWidth - 1) {
      for (int r = 0; r < V::kRows; ++r) {
        const int x = key + r < a.end ? key + r : a.end - 1;
        for (int n = 0; n < 3; ++n)
          acc[r][n] = V::keep_lanes(acc[r][n], x - a.high - n * V::kLanes, x - a.low - n * V::kLanes,
                                    V::set(-__builtin_inff()));
      }
    }
    for (int r = 0; r < V::kRows; ++r) {
      for (int n = 0; n < 3; ++n) {
        V::store(a.p + (key + r) * kWidth + n * V::kLanes, acc[r][n]);
        top[n] = V::max(acc[r][n], top[n]);
      }
    }
  }
}

template <class V>
void scores(const ScoreArgs& a) {
  using Reg = typename V::Reg;
  constexpr int kWidth = 3 * V::kLanes;
  Reg top[3], sum[3];
  score_tiles<V>(a, top);
  for (int n = 0; n < 3; ++n) {
    const Reg before = V::load(a.max + n * V::kLanes);
    V::store(a.max + n * V::kLanes, top[n]);
    top[n] = V::replace_minus_infinity(top[n], V::zero());  // a lane that saw no key yet: e^(-inf - 0) = 0
    const Reg rescale = exp_nonpositive<V>(V::sub(before, top[n]));
    V::store(a.rescale + n * V::kLanes, rescale);
    sum[n] = V::mul(V::load(a.sum + n * V::kLanes), rescale);
  }
  for (int key = a.begin; key < a.end; ++key) {
    float* p = a.p + key * kWidth;
    for (int n = 0; n < 3; ++n) {
      const Reg x = exp_nonpositive<V>(V::sub(V::load(p + n * V::kLanes), top[n]));
      V::store(p + n * V::kLanes, x);
      sum[n] = V::add(sum[n], x);
    }
  }
  for (int n = 0; n < 3; ++n) V::store(a.sum + n * V::kLanes, sum[n]);
}

template <class V>
void values(const ValueArgs& a) {
  constexpr int kWidth = 3 * V::kLanes;
  for (int group = 0; group < a.groups; ++group) {
    const float* v = a.v + (static_cast<int64_t>(group) * a.keys + a.begin) * V::kRows;
    float* out = a.out + group * V::kRows * kWidth;
    typename V::Reg acc[V::kRows][3];
    for (int n = 0; n < 3; ++n) {
      const typename V::Reg rescale = V::load(a.rescale + n * V::kLanes);
      for (int r = 0; r < V::kRows; ++r)
        acc[r][n] = V::mul(V::load(out + r * kWidth + n * V::kLanes), rescale);
    }
    multiply_tile<V>(StridedRows<1, V::kRows>{v}, a.p + a.begin * kWidth, a.end - a.begin, acc);
    for (int r = 0; r < V::kRows; ++r)
      for (int n = 0; n < 3; ++n) V::store(out + r * kWidth + n * V::kLanes, acc[r][n]);
  }
}

template <class V>
bool pack_values(const float* from, int64_t stride, int keys, int dim, float* to) {
  constexpr int kRows = V::kRows;
  typename V::Reg poison = V::zero();  // 0 * x is NaN for an infinite or NaN x
  float tail_poison = 0;
  for (int key = 0; key < keys; ++key) {
    const float* row = from + key * stride;
    int i = 0;
    for (; i + V::kLanes <= dim; i += V::kLanes) poison = V::fma(V::load(row + i), V::zero(), poison);
    for (; i < dim; ++i) tail_poison += row[i] * 0.0f;
    float* column = to + key * kRows;
    for (i = 0; i + kRows <= dim; i += kRows, column += static_cast<int64_t>(keys) * kRows)
      __builtin_memcpy(column, row + i, sizeof(float) * kRows);
    if (i < dim)
      for (int r = 0; r < kRows; ++r) column[r] = i + r < dim ? row[i + r] : 0.0f;
  }
  float lanes[V::kLanes];
  V::store(lanes, poison);
  for (int n = 0; n < V::kLanes; ++n) tail_poison += lanes[n];
  return tail_poison == 0;
}

template <class V>
void scale_lanes(float* out, int rows, const float* factor) {
  for (int r = 0; r < rows; ++r)
    for (int n = 0; n < 3; ++n) {
      float* x = out + (r * 3 + n) * V::kLanes;
      V::store(x, V::mul(V::load(x), V::load(factor + n * V::kLanes)));
    }
}

template <class V>
constexpr ForwardKernels forward_kernels() {
  return {3 * V::kLanes, V::kRows, &scores<V>, &values<V>, &pack_values<V>, &V::transpose, &scale_lanes<V>};
}

}  // namespace counterpoise
