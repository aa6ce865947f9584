// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <compare>
#include <cstdint>

namespace counterpoise {

// Half-open interval [begin, end) of token positions inside one document.
struct Range {
  int64_t begin = 0;
  int64_t end = 0;

  int64_t size() const { return end > begin ? end - begin : 0; }
  bool empty() const { return end <= begin; }
  auto operator<=>(const Range&) const = default;
};

inline Range intersect(Range a, Range b) {
  return {std::max(a.begin, b.begin), std::min(a.end, b.end)};
}

// Which keys a query sees, in absolute positions of the document: key k is visible to query q when
// q - left <= k <= q + right; -1 means unlimited. The convention of FlashAttention's window_size.
struct Mask {
  int64_t left = -1;
  int64_t right = -1;

  static Mask full() { return {-1, -1}; }
  static Mask causal() { return {-1, 0}; }
  // The query itself and the `width - 1` keys before it. width >= 1.
  static Mask sliding_window(int64_t width) { return {width - 1, 0}; }

  bool visible(int64_t q, int64_t k) const {
    return (left < 0 || k >= q - left) && (right < 0 || k <= q + right);
  }
  auto operator<=>(const Mask&) const = default;
};

// Unmasked (query, key) pairs of one head in the rectangle q x kv. Exact for positions up to 2^31;
// O(1). The one place where pairs are counted (the verifier alone counts again by itself).
int64_t area(Range q, Range kv, Mask mask);

// Keys of [0, length) that at least one query of q sees.
Range visible_keys(Range q, int64_t length, Mask mask);

}  // namespace counterpoise
