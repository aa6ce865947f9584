// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <span>
#include <utility>

namespace counterpoise {

// A seeded random stream (xoshiro256**, Blackman and Vigna 2018, seeded by splitmix64). Streams with
// different (seed, stream) are independent, so work cut into numbered parts gives the same numbers for
// any thread count. Not thread safe; one per part. The standard library's distributions are not used:
// they differ between implementations.
class RandomStream {
 public:
  explicit RandomStream(uint64_t seed, uint64_t stream = 0) {
    uint64_t x = mix(seed) ^ mix(stream * 0xd1342543de82ef95ull + 0x632be59bd9b4e019ull);
    for (uint64_t& word : state_) word = mix(x += 0x9e3779b97f4a7c15ull);
  }

  uint64_t next() {
    const uint64_t result = rotl(state_[1] * 5, 7) * 9;
    const uint64_t t = state_[1] << 17;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= t;
    state_[3] = rotl(state_[3], 45);
    return result;
  }

  // Uniform in [0, n), n >= 1; multiply-shift, bias below n / 2^64.
  uint64_t below(uint64_t n) { return multiply_high(next(), n); }
  // Uniform in [0, 1), 53 bits.
  double uniform() { return static_cast<double>(next() >> 11) * 0x1p-53; }
  // Standard normal, Box-Muller.
  double normal();

  // Fisher-Yates.
  template <typename T>
  void shuffle(std::span<T> items) {
    for (uint64_t i = items.size(); i > 1; --i) std::swap(items[i - 1], items[below(i)]);
  }

 private:
  static uint64_t rotl(uint64_t x, int k) { return (x << k) | (x >> (64 - k)); }
  static uint64_t mix(uint64_t x) {
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
    return x ^ (x >> 31);
  }
  static uint64_t multiply_high(uint64_t a, uint64_t b) {
    __extension__ using Wide = unsigned __int128;
    return static_cast<uint64_t>((static_cast<Wide>(a) * b) >> 64);
  }

  uint64_t state_[4];
};

}  // namespace counterpoise
