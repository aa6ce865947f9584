// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <immintrin.h>

#include "kernels/simd/register_tile.h"

// Four steps of the two AVX2 register tiles, in assembly: with all 16 registers live, compilers spill
// accumulators inside this loop and lose a tenth of the speed. Accumulators are wherever the compiler put
// them; ymm12 to ymm14 hold a row of b, ymm15 the broadcast element of a.
namespace counterpoise {

// clang-format off
// One row of a tile: the element at `address` times the columns.
#define CP_ROW3(address, x, y, z)                                                    \
  "vbroadcastss " address ", %%ymm15\n\t"                                            \
  "vfmadd231ps %%ymm12, %%ymm15, %" #x "\n\tvfmadd231ps %%ymm13, %%ymm15, %" #y "\n\t" \
  "vfmadd231ps %%ymm14, %%ymm15, %" #z "\n\t"
#define CP_ROW2(address, x, y)                                                       \
  "vbroadcastss " address ", %%ymm15\n\t"                                            \
  "vfmadd231ps %%ymm12, %%ymm15, %" #x "\n\tvfmadd231ps %%ymm13, %%ymm15, %" #y "\n\t"
#define CP_COLUMNS2(offset, b) \
  "vmovups " #offset "+0(%" #b "), %%ymm12\n\tvmovups " #offset "+32(%" #b "), %%ymm13\n\t"
#define CP_COLUMNS3(offset, b) CP_COLUMNS2(offset, b) "vmovups " #offset "+64(%" #b "), %%ymm14\n\t"
#define CP_TILE3                                                                         \
  "+x"(c[0][0]), "+x"(c[0][1]), "+x"(c[0][2]), "+x"(c[1][0]), "+x"(c[1][1]), "+x"(c[1][2]), \
  "+x"(c[2][0]), "+x"(c[2][1]), "+x"(c[2][2]), "+x"(c[3][0]), "+x"(c[3][1]), "+x"(c[3][2])
#define CP_TILE2                                                                         \
  "+x"(c[0][0]), "+x"(c[0][1]), "+x"(c[1][0]), "+x"(c[1][1]), "+x"(c[2][0]), "+x"(c[2][1]), \
  "+x"(c[3][0]), "+x"(c[3][1]), "+x"(c[4][0]), "+x"(c[4][1]), "+x"(c[5][0]), "+x"(c[5][1])

[[gnu::always_inline]] inline void multiply4_avx2(const SeparateRows<4>& a, const float* b, __m256 (&c)[4][3]) {
#define CP_STEP(offset, columns) \
  CP_COLUMNS3(columns, 16)                                                \
  CP_ROW3(#offset "(%12)", 0, 1, 2) CP_ROW3(#offset "(%13)", 3, 4, 5)     \
  CP_ROW3(#offset "(%14)", 6, 7, 8) CP_ROW3(#offset "(%15)", 9, 10, 11)
  asm volatile(CP_STEP(0, 0) CP_STEP(4, 96) CP_STEP(8, 192) CP_STEP(12, 288)
               : CP_TILE3
               : "r"(a.p[0]), "r"(a.p[1]), "r"(a.p[2]), "r"(a.p[3]), "r"(b)
               : "memory", "xmm12", "xmm13", "xmm14", "xmm15");
#undef CP_STEP
}

[[gnu::always_inline]] inline void multiply4_avx2(const StridedRows<1, 4>& a, const float* b, __m256 (&c)[4][3]) {
#define CP_STEP(offset, columns) \
  CP_COLUMNS3(columns, 13)                                                    \
  CP_ROW3(#offset "+0(%12)", 0, 1, 2) CP_ROW3(#offset "+4(%12)", 3, 4, 5)     \
  CP_ROW3(#offset "+8(%12)", 6, 7, 8) CP_ROW3(#offset "+12(%12)", 9, 10, 11)
  asm volatile(CP_STEP(0, 0) CP_STEP(16, 96) CP_STEP(32, 192) CP_STEP(48, 288)
               : CP_TILE3
               : "r"(a.p), "r"(b)
               : "memory", "xmm12", "xmm13", "xmm14", "xmm15");
#undef CP_STEP
}

[[gnu::always_inline]] inline void multiply4_avx2(const StridedRows<24, 1>& a, const float* b, __m256 (&c)[6][2]) {
#define CP_STEP(offset, columns) \
  CP_COLUMNS2(columns, 13)                                                                                 \
  CP_ROW2(#offset "+0(%12)", 0, 1) CP_ROW2(#offset "+96(%12)", 2, 3) CP_ROW2(#offset "+192(%12)", 4, 5)    \
  CP_ROW2(#offset "+288(%12)", 6, 7) CP_ROW2(#offset "+384(%12)", 8, 9) CP_ROW2(#offset "+480(%12)", 10, 11)
  asm volatile(CP_STEP(0, 0) CP_STEP(4, 64) CP_STEP(8, 128) CP_STEP(12, 192)
               : CP_TILE2
               : "r"(a.p), "r"(b)
               : "memory", "xmm12", "xmm13", "xmm15");
#undef CP_STEP
}

[[gnu::always_inline]] inline void multiply4_avx2(const StridedRows<1, 24>& a, const float* b, __m256 (&c)[6][2]) {
#define CP_STEP(offset, columns) \
  CP_COLUMNS2(columns, 13)                                                                              \
  CP_ROW2(#offset "+0(%12)", 0, 1) CP_ROW2(#offset "+4(%12)", 2, 3) CP_ROW2(#offset "+8(%12)", 4, 5)    \
  CP_ROW2(#offset "+12(%12)", 6, 7) CP_ROW2(#offset "+16(%12)", 8, 9) CP_ROW2(#offset "+20(%12)", 10, 11)
  asm volatile(CP_STEP(0, 0) CP_STEP(96, 64) CP_STEP(192, 128) CP_STEP(288, 192)
               : CP_TILE2
               : "r"(a.p), "r"(b)
               : "memory", "xmm12", "xmm13", "xmm15");
#undef CP_STEP
}

#undef CP_ROW3
#undef CP_ROW2
#undef CP_COLUMNS2
#undef CP_COLUMNS3
#undef CP_TILE3
#undef CP_TILE2
// clang-format on

}  // namespace counterpoise
