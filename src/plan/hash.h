// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string_view>

namespace counterpoise {

// 64-bit hash of bytes, equal on every machine (little-endian words, multiply-xorshift). Not cryptographic.
uint64_t hash_bytes(std::string_view bytes);

}  // namespace counterpoise
