// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cmath>

#include "kernels/simd/vec_portable.h"

namespace counterpoise::testing_attention {

// VecBfloat16Avx512 in the compiler's own vectors.
struct VecBfloat16Portable : VecPortable<16> {
  typedef uint32_t Words __attribute__((vector_size(64)));

  static Words load_words(const void* p) {
    Words x;
    std::memcpy(&x, p, sizeof x);
    return x;
  }
  static void store_words(void* p, Words x) { std::memcpy(p, &x, sizeof x); }
  static Words interleave(const uint16_t* low, const uint16_t* high) {
    Words x;
    for (int i = 0; i < 16; ++i) x[i] = low[i] | uint32_t{high[i]} << 16;
    return x;
  }
  static Words round_up(Reg x) { return as<Words>(x) + 0x8000u; }
  static Words pair(Words low, Words high) { return (low >> 16) | (high & 0xffff0000u); }
  static Reg low_half(Words x) { return as<Reg>(x << 16); }
  static Reg high_half(Words x) { return as<Reg>(x & 0xffff0000u); }
  static Reg fraction(Reg x) {
    for (int i = 0; i < 16; ++i) x[i] = std::isinf(x[i]) ? 0 : x[i] - std::floor(x[i]);
    return x;
  }
  static Reg scale_by_power(Reg y, Reg x) {
    for (int i = 0; i < 16; ++i)
      y[i] = static_cast<float>(std::ldexp(y[i], x[i] < -1000 ? -1000 : static_cast<int>(std::floor(x[i]))));
    return y;
  }
  static bool any_greater(Reg a, Reg b) {
    bool any = false;
    for (int i = 0; i < 16; ++i) any = any || a[i] > b[i];
    return any;
  }
  static Reg select_greater(Reg a, Reg b, Reg x, Reg y) { return a > b ? x : y; }
  static void transpose_words(Words (&r)[16]) {
    for (int m = 0; m < 16; ++m)
      for (int n = 0; n < m; ++n) {
        const uint32_t x = r[m][n];
        r[m][n] = r[n][m];
        r[n][m] = x;
      }
  }

 private:
  template <class To, class From>
  static To as(From x) {
    To y;
    std::memcpy(&y, &x, sizeof y);
    return y;
  }
};

}  // namespace counterpoise::testing_attention
