// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

#include "kernels/tiles/row_sums.h"

// A tile machine in plain code, so that the bfloat16 kernels run, and are tested, on CPUs without one. A
// template per vector type: files compiled for different CPUs must not share its functions.
namespace counterpoise::testing_attention {

// Which instruction multiplies, and so in which order products are summed.
enum class Multiplier { kTdpbf16ps, kVdpbf16ps };

template <Multiplier kMultiplier>
struct RowSumOf {
  template <class V>
  using Type = EvenAndOddApart<V>;
};
template <>
struct RowSumOf<Multiplier::kVdpbf16ps> {
  template <class V>
  using Type = OddThenEven<V>;
};

template <class V, Multiplier kMultiplier>
struct TilesEmulated {
  struct Tile {
    uint32_t word[16][16];
  };
  struct Registers {
    Tile tile[8];
    bool configured;
  };
  static inline thread_local Registers registers{};

  template <class W>
  using RowSum = typename RowSumOf<kMultiplier>::template Type<W>;

  static void configure() { registers.configured = true; }
  static void release() {
    check();
    for (Tile& tile : registers.tile) __builtin_memset(&tile, 0xff, sizeof tile);
    registers.configured = false;
  }
  template <int kTile>
  static void zero() {
    check();
    __builtin_memset(&registers.tile[kTile], 0, sizeof(Tile));
  }
  template <int kTile>
  static void load(const void* from, int64_t stride_bytes) {
    check();
    for (int row = 0; row < 16; ++row)
      __builtin_memcpy(registers.tile[kTile].word[row], static_cast<const char*>(from) + row * stride_bytes,
                       64);
  }
  template <int kTile>
  static void store(void* to, int64_t stride_bytes) {
    check();
    for (int row = 0; row < 16; ++row)
      __builtin_memcpy(static_cast<char*>(to) + row * stride_bytes, registers.tile[kTile].word[row], 64);
  }
  template <int kC, int kA, int kB>
  static void multiply() {
    check();
    if constexpr (kMultiplier == Multiplier::kTdpbf16ps)
      tdpbf16ps(registers.tile[kC], registers.tile[kA], registers.tile[kB]);
    else
      vdpbf16ps(registers.tile[kC], registers.tile[kA], registers.tile[kB]);
  }

  // Intel SDM, TDPBF16PS: the even and the odd products of a row are summed apart, by fused multiply-adds
  // from zero, then to each other, then to c. Round to nearest even; denormals are zero on the way in and
  // out.
  static void tdpbf16ps(Tile& c, const Tile& a, const Tile& b) {
    float even_b[16][16], odd_b[16][16];
    for (int k = 0; k < 16; ++k)
      for (int n = 0; n < 16; ++n) {
        even_b[k][n] = flushed(b.word[k][n] << 16);
        odd_b[k][n] = flushed(b.word[k][n] & 0xffff0000u);
      }
    for (int m = 0; m < 16; ++m) {
      float even[16] = {}, odd[16] = {};
      for (int k = 0; k < 16; ++k) {
        const float even_a = flushed(a.word[m][k] << 16), odd_a = flushed(a.word[m][k] & 0xffff0000u);
        for (int n = 0; n < 16; ++n) {
          even[n] = flushed(bits(__builtin_fmaf(even_a, even_b[k][n], even[n])));
          odd[n] = flushed(bits(__builtin_fmaf(odd_a, odd_b[k][n], odd[n])));
        }
      }
      for (int n = 0; n < 16; ++n) {
        const float products = flushed(bits(even[n] + odd[n]));
        c.word[m][n] = bits(flushed(bits(flushed(c.word[m][n]) + products)));
      }
    }
  }

  // Intel SDM, VDPBF16PS: fused multiply-adds onto c, the odd product of a word before the even one; rounding
  // and denormals as above.
  static void vdpbf16ps(Tile& c, const Tile& a, const Tile& b) {
    for (int m = 0; m < 16; ++m)
      for (int n = 0; n < 16; ++n) {
        float sum = flushed(c.word[m][n]);
        for (int k = 0; k < 16; ++k) {
          const uint32_t left = a.word[m][k], right = b.word[k][n];
          const float odd = __builtin_fmaf(flushed(left & 0xffff0000u), flushed(right & 0xffff0000u), sum);
          sum = flushed(bits(__builtin_fmaf(flushed(left << 16), flushed(right << 16), flushed(bits(odd)))));
        }
        c.word[m][n] = bits(sum);
      }
  }

 private:
  static void check() {
    if (!registers.configured) __builtin_trap();  // as the CPU does
  }
  static uint32_t bits(float x) {
    uint32_t b;
    __builtin_memcpy(&b, &x, sizeof b);
    return b;
  }
  // A denormal is zero of its sign.
  static float flushed(uint32_t b) {
    b = (b & 0x7f800000u) == 0 ? b & 0x80000000u : b;
    float x;
    __builtin_memcpy(&x, &b, sizeof x);
    return x;
  }
};

}  // namespace counterpoise::testing_attention
