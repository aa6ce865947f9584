// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <cstring>

// A vector of N floats in the compiler's own vector type: runs on any CPU. The tile shape can be chosen, so
// that the shapes of wider instruction sets are tested where those are missing.

namespace counterpoise {

template <int N, int kTileRows = 4, int kOuterTileRows = 6, int kOuterTileVectors = 2, bool kStrided = false>
struct VecPortable {
  static constexpr int kLanes = N;
  static constexpr int kRows = kTileRows;            // of the tile of kRows * 3
  static constexpr int kOuterRows = kOuterTileRows;  // of the tile of kOuterRows * kOuterVectors
  static constexpr bool kStridedValues = kStrided;
  static constexpr int kOuterVectors = kOuterTileVectors;
  static constexpr int kPanelsPerBlock = 4, kKeysPerBlock = 96, kWideKeysPerBlock = 72;
  typedef float Reg __attribute__((vector_size(N * sizeof(float))));
  typedef int32_t Int __attribute__((vector_size(N * sizeof(int32_t))));

  static Reg load(const float* p) {
    Reg x;
    std::memcpy(&x, p, sizeof x);
    return x;
  }
  static void store(float* p, Reg x) { std::memcpy(p, &x, sizeof x); }
  static Reg set(float x) { return Reg{} + x; }
  static Reg zero() { return Reg{}; }
  static Reg add(Reg a, Reg b) { return a + b; }
  static Reg sub(Reg a, Reg b) { return a - b; }
  static Reg mul(Reg a, Reg b) { return a * b; }
  static Reg fma(Reg a, Reg b, Reg c) { return a * b + c; }
  // b where either is NaN.
  static Reg max(Reg a, Reg b) { return a > b ? a : b; }
  // `otherwise` in the lanes where x is -infinity.
  static Reg replace_minus_infinity(Reg x, Reg otherwise) {
    return x == set(-__builtin_inff()) ? otherwise : x;
  }
  // Lanes [first, last] of x, `otherwise` in the rest.
  static Reg keep_lanes(Reg x, int first, int last, Reg otherwise) {
    int32_t numbers[N];
    for (int i = 0; i < N; ++i) numbers[i] = i;
    Int lane;
    std::memcpy(&lane, numbers, sizeof lane);
    return ((lane >= first) & (lane <= last)) ? x : otherwise;
  }
  // 2^n for the integer n + 127 in the low bits of x (as left by adding 1.5 * 2^23 + 127).
  static Reg power_from_low_bits(Reg x) {
    Int bits;
    std::memcpy(&bits, &x, sizeof bits);
    bits <<= 23;
    std::memcpy(&x, &bits, sizeof bits);
    return x;
  }

  // to[c * to_stride + r] = scale * from[r * from_stride + c]
  static void transpose(const float* from, int64_t from_stride, int rows, int columns, float scale, float* to,
                        int64_t to_stride) {
    for (int r = 0; r < rows; ++r)
      for (int c = 0; c < columns; ++c) to[c * to_stride + r] = scale * from[r * from_stride + c];
  }
};

}  // namespace counterpoise
