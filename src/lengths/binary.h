// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <type_traits>

#include "counterpoise/error.h"

namespace counterpoise {

// The integer at `offset`, stored in the given byte order at any alignment. Its bytes must exist.
template <typename T>
T load(std::string_view bytes, size_t offset, std::endian order = std::endian::little) {
  std::make_unsigned_t<T> value = 0;
  for (size_t i = 0; i < sizeof(T); ++i) {
    const size_t at = order == std::endian::little ? sizeof(T) - 1 - i : i;
    value = static_cast<std::make_unsigned_t<T>>((value << (sizeof(T) > 1 ? 8 : 0)) |
                                                 static_cast<unsigned char>(bytes[offset + at]));
  }
  return static_cast<T>(value);
}

}  // namespace counterpoise
