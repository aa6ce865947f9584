// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kernels/tiles/tile_kernels.h"

// Lane-wise arithmetic of the bfloat16 kernels, once for every vector type.
namespace counterpoise {

// 2^x, from the whole and the fractional part of x: a degree-4 minimax polynomial on [0, 1) that is exact at
// 0; relative error 3e-6, a thousandth of what rounding the weight to bfloat16 costs.
template <class V>
[[gnu::always_inline]] inline typename V::Reg exp2(typename V::Reg x) {
  const typename V::Reg f = V::fraction(x);
  typename V::Reg y = V::set(0.0134266838f);
  y = V::fma(y, f, V::set(0.0522424728f));
  y = V::fma(y, f, V::set(0.241280198f));
  y = V::fma(y, f, V::set(0.693044841f));
  y = V::fma(y, f, V::set(1.0f));
  return V::scale_by_power(y, x);
}

template <class V>
void rows_from_lanes(const float* from, const float* factor, int pairs, float* to) {
  const int columns = pairs * kPairRows;
  for (int group = 0; group < 2; ++group) {
    const typename V::Reg scale = V::load(factor + group * 16);
    for (int c = 0; c < columns; c += 16) {
      float scaled[16][16];
      for (int i = 0; i < 16; ++i)
        V::store(scaled[i], V::mul(scale, V::load(from + (c + i) * kPairRows + group * 16)));
      typename V::Words r[16];
      for (int i = 0; i < 16; ++i) r[i] = V::load_words(scaled[i]);
      V::transpose_words(r);
      for (int i = 0; i < 16; ++i) V::store_words(to + (group * 16 + i) * columns + c, r[i]);
    }
  }
}

// T sums the products of a row as its tiles do.
template <class T, class V>
void row_dots(const uint32_t* dout, const float* rows, int pairs, float* out) {
  using Reg = typename V::Reg;
  const int columns = pairs * kPairRows;
  for (int group = 0; group < 2; ++group) {
    Reg sum = V::zero();
    for (int pair = 0; pair < pairs; ++pair) {
      float lanes[kPairRows][16];  // [column][lane]
      for (int half = 0; half < 2; ++half) {
        typename V::Words r[16];
        for (int i = 0; i < 16; ++i)
          r[i] = V::load_words(rows + (group * 16 + i) * columns + pair * kPairRows + half * 16);
        V::transpose_words(r);
        for (int i = 0; i < 16; ++i) V::store_words(lanes[half * 16 + i], r[i]);
      }
      typename T::template RowSum<V> row(sum);
      for (int i = 0; i < 16; ++i) {
        const typename V::Words words = V::load_words(dout + pair * kPairWords + group * kTileWords + i * 16);
        row.add(V::low_half(words), V::load(lanes[2 * i]), V::high_half(words), V::load(lanes[2 * i + 1]));
      }
      sum = row.sum();
    }
    V::store(out + group * 16, sum);
  }
}

}  // namespace counterpoise
