// SPDX-License-Identifier: Apache-2.0
#include "plan/hash.h"

#include <algorithm>

namespace counterpoise {
namespace {

uint64_t word_at(std::string_view bytes, size_t at) {
  uint64_t word = 0;
  for (size_t i = 0; i < std::min<size_t>(8, bytes.size() - at); ++i) {
    word |= static_cast<uint64_t>(static_cast<unsigned char>(bytes[at + i])) << (8 * i);
  }
  return word;
}

// A bijection of 64-bit words (the finaliser of splitmix64).
uint64_t mix(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

}  // namespace

uint64_t hash_bytes(std::string_view bytes) {
  uint64_t hash = mix(bytes.size() + 0x9e3779b97f4a7c15ull);
  for (size_t at = 0; at < bytes.size(); at += 8) {
    hash = mix(hash ^ word_at(bytes, at)) + 0x9e3779b97f4a7c15ull;
  }
  return hash;
}

}  // namespace counterpoise
