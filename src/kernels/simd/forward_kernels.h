// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kernels/simd/kernels.h"
#include "kernels/simd/register_tile.h"

// The forward kernels, once for every vector type.
namespace counterpoise {

// p = s for up to `height` keys from `key` on, masked ones -inf; raises the running maximum.
template <class V, int kFirst, int kLast>
inline void score_tile(const ScoreArgs& a, int key, typename V::Reg (&top)[3]) {
  using Reg = typename V::Reg;
  constexpr int kWidth = 3 * V::kLanes, kHeight = tile_height<V>(kLast - kFirst);
  // Beyond the end the last key is repeated: its logit changes no maximum and is never read.
  SeparateRows<kHeight> rows;
  for (int r = 0; r < kHeight; ++r) rows.p[r] = a.k + (key + r < a.end ? key + r : a.end - 1) * a.k_stride;
  Reg acc[kHeight][3] = {};
  if constexpr (kFirst == 0 && kLast == 3 && ProductsInMemory<V>) {
    float* tile = a.p + key * kWidth;
    V::product(rows, a.q, a.dim, tile);
    for (int r = 0; r < kHeight; ++r)
      for (int n = 0; n < 3; ++n) acc[r][n] = V::load(tile + r * kWidth + n * V::kLanes);
  } else {
    multiply_columns<V, kFirst, kLast>(rows, a.q, a.dim, acc);
  }
  if (key + kHeight - 1 > a.high || key < a.low + kWidth - 1) {
#pragma GCC unroll 8
    for (int r = 0; r < kHeight; ++r) {
      const int x = key + r < a.end ? key + r : a.end - 1;
      for (int n = kFirst; n < kLast; ++n)
        acc[r][n] = V::keep_lanes(acc[r][n], x - a.high - n * V::kLanes, x - a.low - n * V::kLanes,
                                  V::set(-__builtin_inff()));
    }
  }
#pragma GCC unroll 8
  for (int r = 0; r < kHeight; ++r) {
    for (int n = kFirst; n < kLast; ++n) {
      V::store(a.p + (key + r) * kWidth + n * V::kLanes, acc[r][n]);
      top[n] = V::max(acc[r][n], top[n]);
    }
  }
}

// p = e^(p - top) for keys [begin, end), summed.
template <class V, int kFirst, int kLast>
inline void exponentials(float* p, int begin, int end, const typename V::Reg (&top)[3],
                         typename V::Reg (&sum)[3]) {
  constexpr int kWidth = 3 * V::kLanes;
  for (int key = begin; key < end; ++key) {
    for (int n = kFirst; n < kLast; ++n) {
      float* lanes = p + key * kWidth + n * V::kLanes;
      const typename V::Reg x = exp_nonpositive<V>(V::sub(V::load(lanes), top[n]));
      V::store(lanes, x);
      sum[n] = V::add(sum[n], x);
    }
  }
}

// What is subtracted from logits: 0 for a lane that saw no key yet, where e^(-inf - 0) = 0.
template <class V>
inline typename V::Reg finite_maximum(typename V::Reg max) {
  return V::replace_minus_infinity(max, V::zero());
}

template <class V>
void scores(const ScoreArgs& a) {
  using Reg = typename V::Reg;
  const ActiveVectors<V> active(a.rows, a.high, a.end);
  Reg top[3];
  for (int n = 0; n < 3; ++n) top[n] = V::load(a.max + n * V::kLanes);
  for (int key = a.begin; key < a.end;) {
    if constexpr (ProductsInMemory<V>) {
      if (const int whole = whole_tiles<V>(a, key); whole > 0) {
        for_each_whole_tile<V>(a.k, a.k_stride, key, whole, [&](const auto& rows, int row) {
          V::product(rows, a.q, a.dim, a.p + row * 3 * V::kLanes, reinterpret_cast<float*>(top));
        });
        key += whole * V::kRows;
        continue;
      }
    }
    with_vectors(
        active.first(key), active.last, [&]<int kFirst, int kLast>() __attribute__((always_inline)) {
          score_tile<V, kFirst, kLast>(a, key, top);
          key += tile_height<V>(kLast - kFirst);
        });
  }
  for (int n = 0; n < 3; ++n) {
    const Reg before = V::load(a.max + n * V::kLanes);
    V::store(a.max + n * V::kLanes, top[n]);
    V::store(a.rescale + n * V::kLanes, exp_nonpositive<V>(V::sub(before, finite_maximum<V>(top[n]))));
  }
}

template <class V>
void weights(const ScoreArgs& a) {
  const ActiveVectors<V> active(a.rows, a.high, a.end);
  typename V::Reg top[3], sum[3];
  for (int n = 0; n < 3; ++n) {
    top[n] = finite_maximum<V>(V::load(a.max + n * V::kLanes));
    sum[n] = V::mul(V::load(a.sum + n * V::kLanes), V::load(a.rescale + n * V::kLanes));
  }
  for (int key = a.begin; key < a.end;) {
    const int first = active.first(key), stop = active.stop[first];
    with_vectors(
        first, active.last, [&]<int kFirst, int kLast>() __attribute__((always_inline)) {
          exponentials<V, kFirst, kLast>(a.p, key, stop, top, sum);
        });
    key = stop;
  }
  for (int n = 0; n < 3; ++n) V::store(a.sum + n * V::kLanes, sum[n]);
}

template <class V, int kLast>
void values_of(const ValueArgs& a, const ActiveVectors<V>& active) {
  constexpr int kWidth = 3 * V::kLanes, kRows = V::kRows;
  // Where one vector less takes part, in ascending order from begin.
  int stop[3];
  for (int n = 0; n < 3; ++n) stop[n] = active.stop[n] > a.begin ? active.stop[n] : a.begin;
  for (int group = 0; group < a.groups; ++group) {
    const float* v = a.v + group * a.group_stride;
    float* out = a.out + group * kRows * kWidth;
    auto rows = [&](int key) {
      if constexpr (V::kStridedValues)
        return SteppedRows{v + key * a.key_stride, a.key_stride};
      else
        return StridedRows<1, kRows>{v + key * kRows};
    };
    typename V::Reg acc[kRows][3];
    if constexpr (kLast == 3 && requires { V::accumulate(rows(0), a.p, 0, a.rescale, out); }) {
      V::accumulate(rows(a.begin), a.p + a.begin * kWidth, stop[0] - a.begin, a.rescale, out);
      if (stop[0] == stop[2]) continue;
      for (int n = 1; n < 3; ++n)
        for (int r = 0; r < kRows; ++r) acc[r][n] = V::load(out + r * kWidth + n * V::kLanes);
      multiply_columns<V, 1, 3>(rows(stop[0]), a.p + stop[0] * kWidth, stop[1] - stop[0], acc);
      multiply_columns<V, 2, 3>(rows(stop[1]), a.p + stop[1] * kWidth, stop[2] - stop[1], acc);
      for (int r = 0; r < kRows; ++r)
        for (int n = 1; n < 3; ++n) V::store(out + r * kWidth + n * V::kLanes, acc[r][n]);
      continue;
    }
    for (int n = 0; n < kLast; ++n) {
      const typename V::Reg rescale = V::load(a.rescale + n * V::kLanes);
      for (int r = 0; r < kRows; ++r) acc[r][n] = V::mul(V::load(out + r * kWidth + n * V::kLanes), rescale);
    }
    multiply_columns<V, 0, kLast>(rows(a.begin), a.p + a.begin * kWidth, stop[0] - a.begin, acc);
    if constexpr (kLast > 1)
      multiply_columns<V, 1, kLast>(rows(stop[0]), a.p + stop[0] * kWidth, stop[1] - stop[0], acc);
    if constexpr (kLast > 2)
      multiply_columns<V, 2, kLast>(rows(stop[1]), a.p + stop[1] * kWidth, stop[2] - stop[1], acc);
    for (int r = 0; r < kRows; ++r)
      for (int n = 0; n < kLast; ++n) V::store(out + r * kWidth + n * V::kLanes, acc[r][n]);
  }
}

template <class V>
void values(const ValueArgs& a) {
  const ActiveVectors<V> active(a.rows, a.high, a.end);
  if (active.last == 3) return values_of<V, 3>(a, active);
  if (active.last == 2) return values_of<V, 2>(a, active);
  values_of<V, 1>(a, active);
}

template <class V>
void pack_values(const float* from, int64_t stride, int keys, int dim, float* to) {
  constexpr int kRows = V::kRows, kChunk = 16;  // few enough rows to stay in the first-level cache
  for (int begin = 0; begin < keys; begin += kChunk) {
    const int end = begin + kChunk < keys ? begin + kChunk : keys;
    float* column = to + begin * kRows;
    for (int i = 0; i < dim; i += kRows, column += static_cast<int64_t>(keys) * kRows) {
      for (int key = begin; key < end; ++key) {
        const float* row = from + key * stride + i;
        float* cell = column + (key - begin) * kRows;
        if (i + kRows <= dim) {
          __builtin_memcpy(cell, row, sizeof(float) * kRows);
        } else {
          for (int r = 0; r < kRows; ++r) cell[r] = i + r < dim ? row[r] : 0.0f;
        }
      }
    }
  }
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
  return {3 * V::kLanes, V::kRows,        V::kStridedValues, &scores<V>,    &weights<V>,
          &values<V>,    &pack_values<V>, &all_finite<V>,    &V::transpose, &scale_lanes<V>};
}

}  // namespace counterpoise
