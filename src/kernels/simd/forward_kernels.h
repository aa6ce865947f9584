// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kernels/simd/kernels.h"

// The kernels of kernels.h, once for every vector type. Compiled per instruction set, so nothing here may
// pull in an inline function of the standard library: the linker keeps one copy of those for all.
namespace counterpoise {

// e^x for x <= 0; below -87.7 zero; NaN stays. 2^(x log2 e) with a degree-5 minimax polynomial on [-1/2, 1/2]
// that is exact at 0, so that a single key weighs exactly 1. Error 1.3 * 2^-23.
template <class V>
inline typename V::Reg exp_nonpositive(typename V::Reg x) {
  using Reg = typename V::Reg;
  const Reg magic = V::set(12582912.0f + 127.0f);  // 1.5 * 2^23: the sum's low bits are the exponent + 127
  const Reg log2_e = V::set(1.44269504f);
  x = V::max(V::set(-88.0296919f), x);  // -127 ln 2
  const Reg shifted = V::fma(x, log2_e, magic);
  const Reg fraction = V::fma(x, log2_e, V::sub(magic, shifted));
  Reg y = V::set(0.0013264716f);
  y = V::fma(y, fraction, V::set(0.009671513f));
  y = V::fma(y, fraction, V::set(0.05550734f));
  y = V::fma(y, fraction, V::set(0.24022242f));
  y = V::fma(y, fraction, V::set(0.693147f));
  y = V::fma(y, fraction, V::set(1.0f));
  return V::mul(y, V::power_from_low_bits(shifted));
}

// Register tile: acc[r][n] += sum over i of a[r][i * kStep] * b[i][n].
template <class V, int kStep>
inline void multiply_tile(const float* const (&a)[V::kRows], const float* b, int count,
                          typename V::Reg (&acc)[V::kRows][3]) {
#pragma GCC unroll 4
  for (int i = 0; i < count; ++i) {
    const typename V::Reg b0 = V::load(b), b1 = V::load(b + V::kLanes), b2 = V::load(b + 2 * V::kLanes);
    b += 3 * V::kLanes;
#pragma GCC unroll 8
    for (int r = 0; r < V::kRows; ++r) {
      const typename V::Reg x = V::set(a[r][i * kStep]);
      acc[r][0] = V::fma(x, b0, acc[r][0]);
      acc[r][1] = V::fma(x, b1, acc[r][1]);
      acc[r][2] = V::fma(x, b2, acc[r][2]);
    }
  }
}

// p = s for the keys of the block, masked keys -inf; returns the running maximum.
template <class V>
inline void score_tiles(const ScoreArgs& a, typename V::Reg (&top)[3]) {
  using Reg = typename V::Reg;
  constexpr int kWidth = 3 * V::kLanes;
  for (int n = 0; n < 3; ++n) top[n] = V::load(a.max + n * V::kLanes);
  for (int key = a.begin; key < a.end; key += V::kRows) {
    // Beyond the end the last key is repeated: its logit changes no maximum and is never read.
    const float* rows[V::kRows];
    for (int r = 0; r < V::kRows; ++r) rows[r] = a.k + (key + r < a.end ? key + r : a.end - 1) * a.k_stride;
    Reg acc[V::kRows][3] = {};
    multiply_tile<V, 1>(rows, a.q, a.dim, acc);
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
    const float* rows[V::kRows];
    for (int r = 0; r < V::kRows; ++r) rows[r] = v + r;
    float* out = a.out + group * V::kRows * kWidth;
    typename V::Reg acc[V::kRows][3];
    for (int n = 0; n < 3; ++n) {
      const typename V::Reg rescale = V::load(a.rescale + n * V::kLanes);
      for (int r = 0; r < V::kRows; ++r)
        acc[r][n] = V::mul(V::load(out + r * kWidth + n * V::kLanes), rescale);
    }
    multiply_tile<V, V::kRows>(rows, a.p + a.begin * kWidth, a.end - a.begin, acc);
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
