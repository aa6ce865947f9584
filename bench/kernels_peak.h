// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

// The multiply-add peak of one core, from registers alone. In assembly: compilers spill such a loop and then
// report half of it.
namespace counterpoise::bench {

// Runs about `rounds` * 12 * 8 AVX2 multiply-adds of 8 lanes; returns the flops.
inline double fma_peak_avx2(int64_t rounds) {
#if defined(__x86_64__)
  int64_t i = rounds;
  asm volatile(
      "vxorps %%ymm12, %%ymm12, %%ymm12\n\t"
      "vxorps %%ymm13, %%ymm13, %%ymm13\n\t"
      "1:\n\t"
      ".rept 8\n\t"
      "vfmadd231ps %%ymm12, %%ymm13, %%ymm0\n\t"
      "vfmadd231ps %%ymm12, %%ymm13, %%ymm1\n\t"
      "vfmadd231ps %%ymm12, %%ymm13, %%ymm2\n\t"
      "vfmadd231ps %%ymm12, %%ymm13, %%ymm3\n\t"
      "vfmadd231ps %%ymm12, %%ymm13, %%ymm4\n\t"
      "vfmadd231ps %%ymm12, %%ymm13, %%ymm5\n\t"
      "vfmadd231ps %%ymm12, %%ymm13, %%ymm6\n\t"
      "vfmadd231ps %%ymm12, %%ymm13, %%ymm7\n\t"
      "vfmadd231ps %%ymm12, %%ymm13, %%ymm8\n\t"
      "vfmadd231ps %%ymm12, %%ymm13, %%ymm9\n\t"
      "vfmadd231ps %%ymm12, %%ymm13, %%ymm10\n\t"
      "vfmadd231ps %%ymm12, %%ymm13, %%ymm11\n\t"
      ".endr\n\t"
      "dec %0\n\t"
      "jnz 1b\n\t"
      "vzeroupper"
      : "+r"(i)
      :
      : "cc", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10",
        "xmm11", "xmm12", "xmm13");
  return static_cast<double>(rounds) * 8 * 12 * 8 * 2;
#else
  return 0 * static_cast<double>(rounds);
#endif
}

// The same with vectors of 16 lanes and 24 accumulators. Only for CPUs that have the instruction.
#if defined(__x86_64__)
#define COUNTERPOISE_PEAK_AVX512(function, instruction, flops_per_lane)                                  \
  inline double function(int64_t rounds) {                                                               \
    int64_t i = rounds;                                                                                  \
    asm volatile(                                                                                        \
        "vpxord %%zmm30, %%zmm30, %%zmm30\n\t"                                                           \
        "vpxord %%zmm31, %%zmm31, %%zmm31\n\t"                                                           \
        "1:\n\t"                                                                                         \
        ".rept 4\n\t"                                                                                    \
        ".irp n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23\n\t" instruction          \
        " %%zmm30, %%zmm31, %%zmm\\n\n\t"                                                                \
        ".endr\n\t"                                                                                      \
        ".endr\n\t"                                                                                      \
        "dec %0\n\t"                                                                                     \
        "jnz 1b\n\t"                                                                                     \
        "vzeroupper"                                                                                     \
        : "+r"(i)                                                                                        \
        :                                                                                                \
        : "cc", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", \
          "xmm11", "xmm12", "xmm13", "xmm14", "xmm15");                                                  \
    return static_cast<double>(rounds) * 4 * 24 * 16 * (flops_per_lane);                                 \
  }
#else
#define COUNTERPOISE_PEAK_AVX512(function, instruction, flops_per_lane) \
  inline double function(int64_t rounds) {                              \
    return 0 * static_cast<double>(rounds);                             \
  }
#endif
COUNTERPOISE_PEAK_AVX512(fma_peak_avx512, "vfmadd231ps", 2)
COUNTERPOISE_PEAK_AVX512(dot_peak_avx512_bf16, "vdpbf16ps", 4)  // pairs of bfloat16
#undef COUNTERPOISE_PEAK_AVX512

}  // namespace counterpoise::bench
