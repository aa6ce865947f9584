// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kernels/simd/tile_avx512.h"
#include "kernels/simd/transpose_x86.h"

namespace counterpoise {

struct VecAvx512 {
  static constexpr int kLanes = 16;
  static constexpr int kRows = 8;       // 8 x 3 accumulators + 3 + 5 broadcasts of 32 registers
  static constexpr int kOuterRows = 6;  // 6 x 4 accumulators + 4 + 4
  static constexpr int kOuterVectors = 4;
  static constexpr int kPanelsPerBlock = 2, kKeysPerBlock = 192, kWideKeysPerBlock = 192;
  static constexpr bool kStridedValues = true;
  using Reg = __m512;

  static Reg load(const float* p) { return _mm512_loadu_ps(p); }
  static void store(float* p, Reg x) { _mm512_storeu_ps(p, x); }
  static Reg set(float x) { return _mm512_set1_ps(x); }
  static Reg zero() { return _mm512_setzero_ps(); }
  static Reg add(Reg a, Reg b) { return _mm512_add_ps(a, b); }
  static Reg sub(Reg a, Reg b) { return _mm512_sub_ps(a, b); }
  static Reg mul(Reg a, Reg b) { return _mm512_mul_ps(a, b); }
  static Reg fma(Reg a, Reg b, Reg c) { return _mm512_fmadd_ps(a, b, c); }
  static Reg max(Reg a, Reg b) { return _mm512_max_ps(a, b); }
  static Reg replace_minus_infinity(Reg x, Reg otherwise) {
    return _mm512_mask_mov_ps(x, _mm512_cmp_ps_mask(x, set(-__builtin_inff()), _CMP_EQ_OQ), otherwise);
  }
  static Reg keep_lanes(Reg x, int first, int last, Reg otherwise) {
    const __m512i lane = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    const __mmask16 keep = _mm512_cmpge_epi32_mask(lane, _mm512_set1_epi32(first)) &
                           _mm512_cmple_epi32_mask(lane, _mm512_set1_epi32(last));
    return _mm512_mask_mov_ps(otherwise, keep, x);
  }
  static Reg power_from_low_bits(Reg x) {
    return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_castps_si512(x), 23));
  }
  [[gnu::always_inline]] static void product(const SeparateRows<8>& a, const float* b, int count, float* c) {
    product_avx512(a, b, count, c);
  }
  [[gnu::always_inline]] static void product(const SeparateRows<8>& a, const float* b, int count, float* c,
                                             float* max) {
    product_avx512(a, b, count, c, max);
  }
  [[gnu::always_inline]] static void accumulate(const SteppedRows& a, const float* b, int count,
                                                const float* scale, float* c) {
    accumulate_avx512(a, b, count, scale, c);
  }
  template <class Rows>
  [[gnu::always_inline]] static void accumulate_strip(const Rows& rows, const TileStretch* stretches,
                                                      int count, float* c, int64_t c_stride) {
    accumulate_strip_avx512(rows, stretches, count, c, c_stride);
  }
  static void transpose(const float* from, int64_t from_stride, int rows, int columns, float scale, float* to,
                        int64_t to_stride) {
    transpose_x86(from, from_stride, rows, columns, scale, to, to_stride);
  }
};

}  // namespace counterpoise
