// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <immintrin.h>

#include "kernels/simd/register_tile.h"

// The whole loops of the AVX-512 register tiles, in assembly: with 24 accumulators live, compilers spill and
// copy registers inside them. 8 rows x 3 vectors where panels of queries are the columns, 6 x 4 where strips
// are: 24 accumulators in zmm0 to zmm23, then the columns, then broadcast elements of a in turn. This many
// accumulators do not fit an asm statement's operands, so tiles begin and end in memory. Loads of 64 bytes
// and broadcasts to them run at little more than one in a cycle, which rules out flatter tiles.
namespace counterpoise {

// clang-format off
#define CP_ZERO(r) "vpxord %%zmm" #r ", %%zmm" #r ", %%zmm" #r "\n\t"
#define CP_ZERO_ALL                                                                                            \
  CP_ZERO(0) CP_ZERO(1) CP_ZERO(2) CP_ZERO(3) CP_ZERO(4) CP_ZERO(5) CP_ZERO(6) CP_ZERO(7) CP_ZERO(8) CP_ZERO(9) \
  CP_ZERO(10) CP_ZERO(11) CP_ZERO(12) CP_ZERO(13) CP_ZERO(14) CP_ZERO(15) CP_ZERO(16) CP_ZERO(17) CP_ZERO(18)  \
  CP_ZERO(19) CP_ZERO(20) CP_ZERO(21) CP_ZERO(22) CP_ZERO(23)
#define CP_CLOBBERS                                                                                            \
  "memory", "cc", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10",     \
  "xmm11", "xmm12", "xmm13", "xmm14", "xmm15", "xmm16", "xmm17", "xmm18", "xmm19", "xmm20", "xmm21", "xmm22",  \
  "xmm23", "xmm24", "xmm25", "xmm26", "xmm27", "xmm28", "xmm29", "xmm30", "xmm31"

// One row of a tile: the element at `address` times the columns.
#define CP_ROW3(address, x, r0, r1, r2)                 \
  "vbroadcastss " address ", %%zmm" #x "\n\t"           \
  "vfmadd231ps %%zmm24, %%zmm" #x ", %%zmm" #r0 "\n\t"  \
  "vfmadd231ps %%zmm25, %%zmm" #x ", %%zmm" #r1 "\n\t"  \
  "vfmadd231ps %%zmm26, %%zmm" #x ", %%zmm" #r2 "\n\t"
#define CP_ROW4(address, x, r0, r1, r2, r3)             \
  "vbroadcastss " address ", %%zmm" #x "\n\t"           \
  "vfmadd231ps %%zmm24, %%zmm" #x ", %%zmm" #r0 "\n\t"  \
  "vfmadd231ps %%zmm25, %%zmm" #x ", %%zmm" #r1 "\n\t"  \
  "vfmadd231ps %%zmm26, %%zmm" #x ", %%zmm" #r2 "\n\t"  \
  "vfmadd231ps %%zmm27, %%zmm" #x ", %%zmm" #r3 "\n\t"
#define CP_COLUMNS3(offset)                             \
  "vmovups " #offset "+0(%[b]), %%zmm24\n\t"            \
  "vmovups " #offset "+64(%[b]), %%zmm25\n\t"           \
  "vmovups " #offset "+128(%[b]), %%zmm26\n\t"
#define CP_COLUMNS4(offset) CP_COLUMNS3(offset) "vmovups " #offset "+192(%[b]), %%zmm27\n\t"

// `four` steps at a time, then `one` at a time; `advance` moves the left operand on by so many steps.
#define CP_LOOP(four, advance_four, one, advance_one)                         \
  "sub $4, %[count]\n\tjl 2f\n\t"                                             \
  ".p2align 5\n\t"                                                            \
  "1:\n\t" four advance_four "sub $4, %[count]\n\tjge 1b\n\t"                 \
  "2:\n\tadd $4, %[count]\n\tjle 4f\n\t"                                      \
  "3:\n\t" one advance_one "dec %[count]\n\tjg 3b\n\t"                        \
  "4:\n\t"

#define CP_STORE3(offset, r0, r1, r2)                   \
  "vmovups %%zmm" #r0 ", " #offset "+0(%[c])\n\t"       \
  "vmovups %%zmm" #r1 ", " #offset "+64(%[c])\n\t"      \
  "vmovups %%zmm" #r2 ", " #offset "+128(%[c])\n\t"
#define CP_STORE_ALL3                                                                               \
  CP_STORE3(0, 0, 1, 2) CP_STORE3(192, 3, 4, 5) CP_STORE3(384, 6, 7, 8) CP_STORE3(576, 9, 10, 11)   \
  CP_STORE3(768, 12, 13, 14) CP_STORE3(960, 15, 16, 17) CP_STORE3(1152, 18, 19, 20)                 \
  CP_STORE3(1344, 21, 22, 23)

// Columns of four rows into the registers t, in two chains of half the length.
#define CP_MAX(t, r) "vmaxps %%zmm" #t ", %%zmm" #r ", %%zmm" #t "\n\t"
#define CP_MAX_COLUMN(t, u, r0, r1, r2, r3, r4, r5, r6, r7)                                               \
  "vmaxps %%zmm" #r4 ", %%zmm" #r5 ", %%zmm" #u "\n\t"                                                    \
  CP_MAX(t, r0) CP_MAX(u, r6) CP_MAX(t, r1) CP_MAX(u, r7) CP_MAX(t, r2) CP_MAX(t, r3)                     \
  "vmaxps %%zmm" #t ", %%zmm" #u ", %%zmm" #t "\n\t"
#define CP_MAX_ALL3                                                                                       \
  "vmovups 0(%[max]), %%zmm24\n\tvmovups 64(%[max]), %%zmm25\n\tvmovups 128(%[max]), %%zmm26\n\t"       \
  CP_MAX_COLUMN(24, 27, 0, 3, 6, 9, 12, 15, 18, 21) CP_MAX_COLUMN(25, 28, 1, 4, 7, 10, 13, 16, 19, 22)    \
  CP_MAX_COLUMN(26, 29, 2, 5, 8, 11, 14, 17, 20, 23)                                                      \
  "vmovups %%zmm24, 0(%[max])\n\tvmovups %%zmm25, 64(%[max])\n\tvmovups %%zmm26, 128(%[max])\n\t"

#define CP_STEP(offset, columns)                                                                              \
  CP_COLUMNS3(columns)                                                                                        \
  CP_ROW3(#offset "(%[a0],%[i])", 27, 0, 1, 2) CP_ROW3(#offset "(%[a1],%[i])", 28, 3, 4, 5)                   \
  CP_ROW3(#offset "(%[a2],%[i])", 29, 6, 7, 8) CP_ROW3(#offset "(%[a3],%[i])", 30, 9, 10, 11)                 \
  CP_ROW3(#offset "(%[a4],%[i])", 31, 12, 13, 14) CP_ROW3(#offset "(%[a5],%[i])", 27, 15, 16, 17)             \
  CP_ROW3(#offset "(%[a6],%[i])", 28, 18, 19, 20) CP_ROW3(#offset "(%[a7],%[i])", 29, 21, 22, 23)
#define CP_PRODUCT                                                                                            \
  CP_ZERO_ALL                                                                                                 \
  CP_LOOP(CP_STEP(0, 0) CP_STEP(4, 192) CP_STEP(8, 384) CP_STEP(12, 576),                                     \
          "add $16, %[i]\n\tadd $768, %[b]\n\t", CP_STEP(0, 0), "add $4, %[i]\n\tadd $192, %[b]\n\t")        \
  CP_STORE_ALL3
#define CP_PRODUCT_OPERANDS                                                                                   \
  [c] "r"(c), [a0] "r"(a.p[0]), [a1] "r"(a.p[1]), [a2] "r"(a.p[2]), [a3] "r"(a.p[3]), [a4] "r"(a.p[4]),       \
  [a5] "r"(a.p[5]), [a6] "r"(a.p[6]), [a7] "r"(a.p[7])

// c[r][n] = sum over i < count of a(r, i) * b[i][n].
[[gnu::always_inline]] inline void product_avx512(const SeparateRows<8>& a, const float* b, int64_t count,
                                                  float* c) {
  int64_t i = 0;
  asm volatile(CP_PRODUCT
               : [b] "+r"(b), [count] "+r"(count), [i] "+r"(i) : CP_PRODUCT_OPERANDS : CP_CLOBBERS);
}

// The same, and max[n] = max(max[n], c[r][n]) for all r.
[[gnu::always_inline]] inline void product_avx512(const SeparateRows<8>& a, const float* b, int64_t count,
                                                  float* c, float* max) {
  int64_t i = 0;
  asm volatile(CP_PRODUCT CP_MAX_ALL3
               : [b] "+r"(b), [count] "+r"(count), [i] "+r"(i)
               : CP_PRODUCT_OPERANDS, [max] "r"(max) : CP_CLOBBERS);
}
#undef CP_STEP

// c[r][n] = c[r][n] * scale[n] + sum over i < count of a(r, i) * b[i][n].
[[gnu::always_inline]] inline void accumulate_avx512(const SteppedRows& a, const float* b, int64_t count,
                                                     const float* scale, float* c) {
  const float *p = a.p, *p3 = a.p + 3 * a.step;
#define CP_LOAD3(offset, r0, r1, r2)                                  \
  "vmulps " #offset "+0(%[c]), %%zmm24, %%zmm" #r0 "\n\t"             \
  "vmulps " #offset "+64(%[c]), %%zmm25, %%zmm" #r1 "\n\t"            \
  "vmulps " #offset "+128(%[c]), %%zmm26, %%zmm" #r2 "\n\t"
#define CP_STEP(a, columns)                                                                             \
  CP_COLUMNS3(columns)                                                                                  \
  CP_ROW3("0(" a ")", 27, 0, 1, 2) CP_ROW3("4(" a ")", 28, 3, 4, 5)                                     \
  CP_ROW3("8(" a ")", 29, 6, 7, 8) CP_ROW3("12(" a ")", 30, 9, 10, 11)                                  \
  CP_ROW3("16(" a ")", 31, 12, 13, 14) CP_ROW3("20(" a ")", 27, 15, 16, 17)                             \
  CP_ROW3("24(" a ")", 28, 18, 19, 20) CP_ROW3("28(" a ")", 29, 21, 22, 23)
  asm volatile("vmovups 0(%[scale]), %%zmm24\n\tvmovups 64(%[scale]), %%zmm25\n\tvmovups 128(%[scale]), %%zmm26\n\t"
               CP_LOAD3(0, 0, 1, 2) CP_LOAD3(192, 3, 4, 5) CP_LOAD3(384, 6, 7, 8) CP_LOAD3(576, 9, 10, 11)
               CP_LOAD3(768, 12, 13, 14) CP_LOAD3(960, 15, 16, 17) CP_LOAD3(1152, 18, 19, 20)
               CP_LOAD3(1344, 21, 22, 23)
               CP_LOOP(CP_STEP("%[a]", 0) CP_STEP("%[a],%[step]", 192) CP_STEP("%[a],%[step],2", 384) CP_STEP("%[a3]", 576),
                       "lea (%[a],%[step],4), %[a]\n\tlea (%[a3],%[step],4), %[a3]\n\tadd $768, %[b]\n\t",
                       CP_STEP("%[a]", 0), "add %[step], %[a]\n\tadd $192, %[b]\n\t")
               CP_STORE_ALL3
               : [b] "+r"(b), [count] "+r"(count), [a] "+r"(p), [a3] "+r"(p3)
               : [c] "r"(c), [scale] "r"(scale), [step] "r"(a.step * 4)
               : CP_CLOBBERS);
#undef CP_STEP
#undef CP_LOAD3
}

#define CP_LOAD4(c, r0, r1, r2, r3)                                            \
  "vmovups 0(" c "), %%zmm" #r0 "\n\tvmovups 64(" c "), %%zmm" #r1 "\n\t"      \
  "vmovups 128(" c "), %%zmm" #r2 "\n\tvmovups 192(" c "), %%zmm" #r3 "\n\t"
#define CP_STORE4(c, r0, r1, r2, r3)                                           \
  "vmovups %%zmm" #r0 ", 0(" c ")\n\tvmovups %%zmm" #r1 ", 64(" c ")\n\t"      \
  "vmovups %%zmm" #r2 ", 128(" c ")\n\tvmovups %%zmm" #r3 ", 192(" c ")\n\t"
// Six rows of c, `stride` bytes apart; c3 is the fourth.
#define CP_ROWS_OF_C(move)                                                                                       \
  move("%[c]", 0, 1, 2, 3) move("%[c],%[stride]", 4, 5, 6, 7) move("%[c],%[stride],2", 8, 9, 10, 11)             \
  move("%[c3]", 12, 13, 14, 15) move("%[c3],%[stride]", 16, 17, 18, 19) move("%[c3],%[stride],2", 20, 21, 22, 23)
// c[r][n] += the sums of `count` >= 1 stretches of the right operand's rows, rows of c `c_stride` floats apart.
#define CP_STRIP_TILE(step0, step1, step2, step3, advance4, advance1)                                                 \
  int64_t steps;                                                                                                      \
  const float *a, *b;                                                                                                 \
  asm volatile(CP_ROWS_OF_C(CP_LOAD4)                                                                                 \
               "5:\n\tmov 0(%[stretch]), %[a]\n\tmov 8(%[stretch]), %[b]\n\tmov 16(%[stretch]), %[count]\n\t"          \
               CP_LOOP(step0 step1 step2 step3, advance4 "add $1024, %[b]\n\t", step0, advance1 "add $256, %[b]\n\t") \
               "add $24, %[stretch]\n\tdec %[stretches]\n\tjnz 5b\n\t"                                                \
               CP_ROWS_OF_C(CP_STORE4)                                                                                \
               : [a] "=&r"(a), [b] "=&r"(b), [count] "=&r"(steps), [stretch] "+r"(stretch), [stretches] "+r"(count)    \
               : [c] "r"(c), [c3] "r"(c + 3 * c_stride), [stride] "r"(c_stride * 4)                                   \
               : CP_CLOBBERS)
static_assert(sizeof(TileStretch) == 24);

[[gnu::always_inline]] inline void accumulate_strip_avx512(StridedRows<48, 1>, const TileStretch* stretch,
                                                           int64_t count, float* c, int64_t c_stride) {
#define CP_STEP(offset, columns)                                                                           \
  CP_COLUMNS4(columns)                                                                                     \
  CP_ROW4(#offset "+0(%[a])", 28, 0, 1, 2, 3) CP_ROW4(#offset "+192(%[a])", 29, 4, 5, 6, 7)                \
  CP_ROW4(#offset "+384(%[a])", 30, 8, 9, 10, 11) CP_ROW4(#offset "+576(%[a])", 31, 12, 13, 14, 15)        \
  CP_ROW4(#offset "+768(%[a])", 28, 16, 17, 18, 19) CP_ROW4(#offset "+960(%[a])", 29, 20, 21, 22, 23)
  if (count == 0) return;
  CP_STRIP_TILE(CP_STEP(0, 0), CP_STEP(4, 256), CP_STEP(8, 512), CP_STEP(12, 768), "add $16, %[a]\n\t",
                "add $4, %[a]\n\t");
#undef CP_STEP
}

[[gnu::always_inline]] inline void accumulate_strip_avx512(StridedRows<1, 48>, const TileStretch* stretch,
                                                           int64_t count, float* c, int64_t c_stride) {
#define CP_STEP(offset, columns)                                                                       \
  CP_COLUMNS4(columns)                                                                                 \
  CP_ROW4(#offset "+0(%[a])", 28, 0, 1, 2, 3) CP_ROW4(#offset "+4(%[a])", 29, 4, 5, 6, 7)              \
  CP_ROW4(#offset "+8(%[a])", 30, 8, 9, 10, 11) CP_ROW4(#offset "+12(%[a])", 31, 12, 13, 14, 15)       \
  CP_ROW4(#offset "+16(%[a])", 28, 16, 17, 18, 19) CP_ROW4(#offset "+20(%[a])", 29, 20, 21, 22, 23)
  if (count == 0) return;
  CP_STRIP_TILE(CP_STEP(0, 0), CP_STEP(192, 256), CP_STEP(384, 512), CP_STEP(576, 768), "add $768, %[a]\n\t",
                "add $192, %[a]\n\t");
#undef CP_STEP
}

#undef CP_ZERO
#undef CP_ZERO_ALL
#undef CP_CLOBBERS
#undef CP_ROW3
#undef CP_ROW4
#undef CP_COLUMNS3
#undef CP_COLUMNS4
#undef CP_LOOP
#undef CP_STORE3
#undef CP_STORE_ALL3
#undef CP_MAX
#undef CP_MAX_COLUMN
#undef CP_MAX_ALL3
#undef CP_PRODUCT
#undef CP_PRODUCT_OPERANDS
#undef CP_LOAD4
#undef CP_STORE4
#undef CP_ROWS_OF_C
#undef CP_STRIP_TILE
// clang-format on

}  // namespace counterpoise
