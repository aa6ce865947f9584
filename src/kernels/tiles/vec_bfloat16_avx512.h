// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kernels/simd/vec_avx512.h"

namespace counterpoise {

// The AVX-512 vectors with what bfloat16 needs. A word holds two bfloat16, the one that comes first in memory
// in its lower half.
struct VecBfloat16Avx512 : VecAvx512 {
  using Words = __m512i;

  static Words load_words(const void* p) { return _mm512_loadu_si512(p); }
  static void store_words(void* p, Words x) { _mm512_storeu_si512(p, x); }
  // Word n = (low[n], high[n]) for 16 bfloat16 each.
  static Words interleave(const uint16_t* low, const uint16_t* high) {
    const Words a = _mm512_cvtepu16_epi32(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(low)));
    const Words b = _mm512_cvtepu16_epi32(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(high)));
    return _mm512_or_si512(a, _mm512_slli_epi32(b, 16));
  }
  // x with the last 16 bits still to be dropped: to nearest, ties away from zero.
  static Words round_up(Reg x) { return _mm512_add_epi32(_mm512_castps_si512(x), _mm512_set1_epi32(0x8000)); }
  // Word n = the upper halves (low[n], high[n]).
  static Words pair(Words low, Words high) {
    return _mm512_ternarylogic_epi32(_mm512_srli_epi32(low, 16), high, _mm512_set1_epi32(-0x10000), 0xf8);
  }
  static Reg low_half(Words x) { return _mm512_castsi512_ps(_mm512_slli_epi32(x, 16)); }
  static Reg high_half(Words x) {
    return _mm512_castsi512_ps(_mm512_and_si512(x, _mm512_set1_epi32(-0x10000)));
  }
  // x - floor(x); 0 for -inf.
  static Reg fraction(Reg x) { return _mm512_reduce_ps(x, 0x09); }
  // y * 2^floor(x); 0 for -inf.
  static Reg scale_by_power(Reg y, Reg x) { return _mm512_scalef_ps(y, x); }
  static bool any_greater(Reg a, Reg b) { return _mm512_cmp_ps_mask(a, b, _CMP_GT_OQ) != 0; }
  // a > b ? x : y
  static Reg select_greater(Reg a, Reg b, Reg x, Reg y) {
    return _mm512_mask_mov_ps(y, _mm512_cmp_ps_mask(a, b, _CMP_GT_OQ), x);
  }

  // r[m][n] <-> r[n][m]
  static void transpose_words(Words (&r)[16]) {
    Words t[16];
#pragma GCC unroll 8
    for (int i = 0; i < 16; i += 2) {
      t[i] = _mm512_unpacklo_epi32(r[i], r[i + 1]);
      t[i + 1] = _mm512_unpackhi_epi32(r[i], r[i + 1]);
    }
#pragma GCC unroll 4
    for (int i = 0; i < 16; i += 4) {  // 4 x 4 blocks: r[i + c] holds column c + 4 l of rows i.. in lane l
      r[i] = _mm512_unpacklo_epi64(t[i], t[i + 2]);
      r[i + 1] = _mm512_unpackhi_epi64(t[i], t[i + 2]);
      r[i + 2] = _mm512_unpacklo_epi64(t[i + 1], t[i + 3]);
      r[i + 3] = _mm512_unpackhi_epi64(t[i + 1], t[i + 3]);
    }
#pragma GCC unroll 4
    for (int c = 0; c < 4; ++c) {
      const Words a = _mm512_shuffle_i32x4(r[c], r[c + 4], 0x44),
                  b = _mm512_shuffle_i32x4(r[c], r[c + 4], 0xee);
      const Words d = _mm512_shuffle_i32x4(r[c + 8], r[c + 12], 0x44),
                  e = _mm512_shuffle_i32x4(r[c + 8], r[c + 12], 0xee);
      t[c] = _mm512_shuffle_i32x4(a, d, 0x88);
      t[c + 4] = _mm512_shuffle_i32x4(a, d, 0xdd);
      t[c + 8] = _mm512_shuffle_i32x4(b, e, 0x88);
      t[c + 12] = _mm512_shuffle_i32x4(b, e, 0xdd);
    }
#pragma GCC unroll 16
    for (int i = 0; i < 16; ++i) r[i] = t[i];
  }
};

}  // namespace counterpoise
