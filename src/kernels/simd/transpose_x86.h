// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <immintrin.h>

#include <cstdint>

namespace counterpoise {

// Eight rows of eight floats -> eight columns. Internal linkage: every instruction set compiles its own.
static inline void transpose_8x8(__m256 r[8]) {
  __m256 t[8], u[8];
  for (int i = 0; i < 4; ++i) {
    t[2 * i] = _mm256_unpacklo_ps(r[2 * i], r[2 * i + 1]);
    t[2 * i + 1] = _mm256_unpackhi_ps(r[2 * i], r[2 * i + 1]);
  }
  for (int i = 0; i < 2; ++i) {
    u[4 * i + 0] = _mm256_shuffle_ps(t[4 * i], t[4 * i + 2], 0x44);
    u[4 * i + 1] = _mm256_shuffle_ps(t[4 * i], t[4 * i + 2], 0xee);
    u[4 * i + 2] = _mm256_shuffle_ps(t[4 * i + 1], t[4 * i + 3], 0x44);
    u[4 * i + 3] = _mm256_shuffle_ps(t[4 * i + 1], t[4 * i + 3], 0xee);
  }
  for (int i = 0; i < 4; ++i) {
    r[i] = _mm256_permute2f128_ps(u[i], u[i + 4], 0x20);
    r[i + 4] = _mm256_permute2f128_ps(u[i], u[i + 4], 0x31);
  }
}

// to[c * to_stride + r] = scale * from[r * from_stride + c]
static inline void transpose_x86(const float* from, int64_t from_stride, int rows, int columns, float scale,
                                 float* to, int64_t to_stride) {
  const __m256 factor = _mm256_set1_ps(scale);
  int r = 0;
  for (; r + 8 <= rows; r += 8) {
    int c = 0;
    for (; c + 8 <= columns; c += 8) {
      __m256 x[8];
      for (int i = 0; i < 8; ++i)
        x[i] = _mm256_mul_ps(factor, _mm256_loadu_ps(from + (r + i) * from_stride + c));
      transpose_8x8(x);
      for (int i = 0; i < 8; ++i) _mm256_storeu_ps(to + (c + i) * to_stride + r, x[i]);
    }
    for (; c < columns; ++c)
      for (int i = 0; i < 8; ++i) to[c * to_stride + r + i] = scale * from[(r + i) * from_stride + c];
  }
  for (; r < rows; ++r)
    for (int c = 0; c < columns; ++c) to[c * to_stride + r] = scale * from[r * from_stride + c];
}

}  // namespace counterpoise
