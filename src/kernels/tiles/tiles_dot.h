// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <immintrin.h>

#include "kernels/tiles/products.h"
#include "kernels/tiles/row_sums.h"

namespace counterpoise {

// No tile machine, but vectors that multiply pairs of bfloat16 (VDPBF16PS: Zen 4, Cooper Lake) at twice the
// rate of float32: the products of tiles, one accumulator tile after another, each held in 16 registers for
// all steps.
struct TilesDot {
  template <class V>
  using RowSum = OddThenEven<V>;

  static void configure() {}
  static void release() {}
};

namespace dot {

// A tile of c: = or += the products of the tiles a and b of every step. Once in the code: it is long, and
// called from many places.
template <Accumulate kHow>
[[gnu::noinline]] void add_products(const PairProduct& x, const uint32_t* a, const uint32_t* b, float* c) {
  __m512 sums[16];
#pragma GCC unroll 16
  for (int row = 0; row < 16; ++row)
    sums[row] = kHow == Accumulate::kAdd ? _mm512_loadu_ps(c + row * x.c_stride) : _mm512_setzero_ps();
  for (int step = 0; step < x.steps; ++step, a += x.a_step, b += x.b_step) {
#pragma GCC unroll 4
    for (int k = 0; k < 16; ++k) {
      const auto right = reinterpret_cast<__m512bh>(_mm512_loadu_si512(b + 16 * k));
#pragma GCC unroll 16
      for (int row = 0; row < 16; ++row) {
        const __m512i left = _mm512_set1_epi32(static_cast<int>(a[16 * row + k]));
        sums[row] = _mm512_dpbf16_ps(sums[row], reinterpret_cast<__m512bh>(left), right);
      }
    }
  }
#pragma GCC unroll 16
  for (int row = 0; row < 16; ++row) _mm512_storeu_ps(c + row * x.c_stride, sums[row]);
}

}  // namespace dot

// Nothing is ever pending: c is in memory when this returns, and so the work on what it may overwrite is done
// first. The vector units are those that multiply; there is nothing to overlap.
template <Accumulate kHow, class Work>
void multiply(TilesDot&, const PairProduct& x, PendingStore&, Work&& side) {
  side.stored();
  side.finish();
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 2; ++j)
      dot::add_products<kHow>(x, x.a + i * kTileWords, x.b + j * kTileWords,
                              x.c + i * 16 * x.c_stride + j * 16);
}

inline void flush(TilesDot&, PendingStore&) {}

}  // namespace counterpoise
