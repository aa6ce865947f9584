// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

#include "kernels/tiles/row_sums.h"

namespace counterpoise {

// The tile registers of AMX, all eight of 16 rows of 64 bytes. In assembly, because the compilers' intrinsics
// do not say that loads and stores touch memory; volatile, because the registers are ours and the order is
// the program's.
struct TilesAmx {
  template <class V>
  using RowSum = EvenAndOddApart<V>;

  static void configure() {
    struct alignas(64) {
      uint8_t palette = 1, start_row = 0, reserved[14] = {};
      uint16_t row_bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
      uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
    } const config;
    static_assert(sizeof config == 64);
    asm volatile("ldtilecfg %0" ::"m"(config) : "memory");
  }
  static void release() { asm volatile("tilerelease" ::: "memory"); }

  template <int kTile>
  static void zero() {
    asm volatile("tilezero %%tmm%c0" ::"i"(kTile));
  }
  template <int kTile>
  static void load(const void* from, int64_t stride_bytes) {
    asm volatile("tileloadd (%1,%2,1), %%tmm%c0" ::"i"(kTile), "r"(from), "r"(stride_bytes) : "memory");
  }
  template <int kTile>
  static void store(void* to, int64_t stride_bytes) {
    asm volatile("tilestored %%tmm%c0, (%1,%2,1)" ::"i"(kTile), "r"(to), "r"(stride_bytes) : "memory");
  }
  // c += a * b
  template <int kC, int kA, int kB>
  static void multiply() {
    asm volatile("tdpbf16ps %%tmm%c2, %%tmm%c1, %%tmm%c0" ::"i"(kC), "i"(kA), "i"(kB));
  }
};

}  // namespace counterpoise
