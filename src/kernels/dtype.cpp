// SPDX-License-Identifier: Apache-2.0
#include "kernels/dtype.h"

namespace counterpoise {

int64_t dtype_bytes(DType dtype) {
  return dtype == DType::kFloat32 ? 4 : 2;
}

std::string_view dtype_name(DType dtype) {
  switch (dtype) {
    case DType::kFloat32:
      return "float32";
    case DType::kBFloat16:
      return "bfloat16";
    case DType::kFloat16:
      return "float16";
  }
  return "?";
}

uint16_t float_to_bfloat16(float x) {
  const uint32_t bits = bits_of_float(x);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return static_cast<uint16_t>((bits >> 16) | 0x40u);
  return static_cast<uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

float float16_to_float(uint16_t x) {
  const uint32_t sign = (x & 0x8000u) << 16, exponent = (x >> 10) & 0x1fu, mantissa = x & 0x3ffu;
  if (exponent == 31) return float_from_bits(sign | 0x7f800000u | (mantissa << 13));
  if (exponent == 0) {  // zero or denormal: mantissa * 2^-24, exact in float32
    const float magnitude = static_cast<float>(mantissa) * 0x1p-24f;
    return sign ? -magnitude : magnitude;
  }
  return float_from_bits(sign | ((exponent + 112) << 23) | (mantissa << 13));
}

uint16_t float_to_float16(float x) {
  const uint32_t bits = bits_of_float(x), sign = (bits >> 16) & 0x8000u, magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return static_cast<uint16_t>(sign | 0x7e00u);
  if (magnitude >= 0x477ff000u)
    return static_cast<uint16_t>(sign | 0x7c00u);  // 65520 and above round to infinity
  if (magnitude < 0x38800000u) {                   // below 2^-14: adding 0.5 rounds to a multiple of 2^-24
    const float shifted = float_from_bits(magnitude) + 0.5f;
    return static_cast<uint16_t>(sign | (bits_of_float(shifted) - 0x3f000000u));
  }
  const uint32_t rounded = magnitude + 0xfffu + ((magnitude >> 13) & 1u) - (112u << 23);
  return static_cast<uint16_t>(sign | (rounded >> 13));
}

void load_row(const void* source, DType dtype, int64_t count, float* destination) {
  if (dtype == DType::kFloat32) {
    std::memcpy(destination, source, static_cast<size_t>(count) * sizeof(float));
    return;
  }
  const uint16_t* half = static_cast<const uint16_t*>(source);
  if (dtype == DType::kBFloat16) {
    for (int64_t i = 0; i < count; ++i) destination[i] = bfloat16_to_float(half[i]);
  } else {
    for (int64_t i = 0; i < count; ++i) destination[i] = float16_to_float(half[i]);
  }
}

void store_row(const float* source, int64_t count, void* destination, DType dtype) {
  if (dtype == DType::kFloat32) {
    std::memcpy(destination, source, static_cast<size_t>(count) * sizeof(float));
    return;
  }
  uint16_t* half = static_cast<uint16_t*>(destination);
  if (dtype == DType::kBFloat16) {
    for (int64_t i = 0; i < count; ++i) half[i] = float_to_bfloat16(source[i]);
  } else {
    for (int64_t i = 0; i < count; ++i) half[i] = float_to_float16(source[i]);
  }
}

}  // namespace counterpoise
