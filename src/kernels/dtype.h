// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <cstring>

#include "counterpoise/attention.h"

namespace counterpoise {

inline float float_from_bits(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}
inline uint32_t bits_of_float(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

inline float bfloat16_to_float(uint16_t x) {
  return float_from_bits(uint32_t{x} << 16);
}
uint16_t float_to_bfloat16(float x);  // to nearest, ties to even; NaN stays NaN
float float16_to_float(uint16_t x);
uint16_t float_to_float16(float x);  // to nearest, ties to even; overflow to infinity

// Converts `count` contiguous elements.
void load_row(const void* source, DType dtype, int64_t count, float* destination);
void store_row(const float* source, int64_t count, void* destination, DType dtype);

inline const void* row_address(const ConstTensorView& t, int64_t token, int64_t head) {
  return static_cast<const char*>(t.data) +
         (token * t.token_stride + head * t.head_stride) * dtype_bytes(t.dtype);
}
inline void* row_address(const TensorView& t, int64_t token, int64_t head) {
  return static_cast<char*>(t.data) + (token * t.token_stride + head * t.head_stride) * dtype_bytes(t.dtype);
}

}  // namespace counterpoise
