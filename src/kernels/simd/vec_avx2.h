// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kernels/simd/tile_avx2.h"
#include "kernels/simd/transpose_x86.h"

namespace counterpoise {

struct VecAvx2 {
  static constexpr int kLanes = 8;
  static constexpr int kRows = 4;       // 4 x 3 accumulators + 3 + 1 = all 16 registers
  static constexpr int kOuterRows = 6;  // 6 x 2 accumulators + 2 + 1
  static constexpr int kOuterVectors = 2;
  static constexpr int kPanelsPerBlock = 4, kKeysPerBlock = 96, kWideKeysPerBlock = 72;
  static constexpr bool kStridedValues = false;
  using Reg = __m256;

  static Reg load(const float* p) { return _mm256_loadu_ps(p); }
  static void store(float* p, Reg x) { _mm256_storeu_ps(p, x); }
  static Reg set(float x) { return _mm256_set1_ps(x); }
  static Reg zero() { return _mm256_setzero_ps(); }
  static Reg add(Reg a, Reg b) { return _mm256_add_ps(a, b); }
  static Reg sub(Reg a, Reg b) { return _mm256_sub_ps(a, b); }
  static Reg mul(Reg a, Reg b) { return _mm256_mul_ps(a, b); }
  static Reg fma(Reg a, Reg b, Reg c) { return _mm256_fmadd_ps(a, b, c); }
  static Reg max(Reg a, Reg b) { return _mm256_max_ps(a, b); }
  static Reg replace_minus_infinity(Reg x, Reg otherwise) {
    return _mm256_blendv_ps(x, otherwise, _mm256_cmp_ps(x, set(-__builtin_inff()), _CMP_EQ_OQ));
  }
  static Reg keep_lanes(Reg x, int first, int last, Reg otherwise) {
    const __m256i lane = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    const __m256i drop = _mm256_or_si256(_mm256_cmpgt_epi32(_mm256_set1_epi32(first), lane),
                                         _mm256_cmpgt_epi32(lane, _mm256_set1_epi32(last)));
    return _mm256_blendv_ps(x, otherwise, _mm256_castsi256_ps(drop));
  }
  static Reg power_from_low_bits(Reg x) {
    return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_castps_si256(x), 23));
  }
  template <class Rows, int kHeight, int kVectors>
  requires requires(const Rows& a, Reg (&acc)[kHeight][kVectors]) { multiply4_avx2(a, nullptr, acc); }
  [[gnu::always_inline]] static void multiply4(const Rows& a, const float* b, Reg (&acc)[kHeight][kVectors]) {
    multiply4_avx2(a, b, acc);
  }
  static void transpose(const float* from, int64_t from_stride, int rows, int columns, float scale, float* to,
                        int64_t to_stride) {
    transpose_x86(from, from_stride, rows, columns, scale, to, to_stride);
  }
};

}  // namespace counterpoise
