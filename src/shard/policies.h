// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <vector>

#include "counterpoise/shard.h"

namespace counterpoise {

// Collects who holds what in any order and makes it a Placement: sorted, merged, empties dropped.
class PlacementBuilder {
 public:
  explicit PlacementBuilder(int32_t cp) : count_(cp, 0) {}

  void add(int32_t rank, int32_t document, Range range) {
    if (range.empty()) return;
    held_.push_back({rank, {document, range}});
    ++count_[rank];
  }
  Placement finish() const;

 private:
  struct Held {
    int32_t rank;
    HeldRange range;
  };
  std::vector<int32_t> count_;
  std::vector<Held> held_;
};

// A window laid out as its documents end to end, read from the front: gives tokens [at, at + count) of the
// window to a rank, document by document.
class WindowCursor {
 public:
  WindowCursor(std::span<const int64_t> lengths, PlacementBuilder& builder)
      : lengths_(lengths), builder_(builder) {}
  void give(int32_t rank, int64_t count);

 private:
  std::span<const int64_t> lengths_;
  PlacementBuilder& builder_;
  int32_t document_ = 0;
  int64_t position_ = 0;
};

int64_t total_tokens(std::span<const int64_t> lengths);

// One document in 2 cp zigzag slices: calls give(rank, range) slice by slice, some of them empty. Left-over
// tokens are dealt one by one to the ranks in turn from rank `turn`, which is left at the rank that is next.
// A rank's first left-over token lengthens its head slice, a second one its tail slice.
template <typename Give>
void zigzag_slices(int64_t cp, int64_t length, int64_t& turn, Give give) {
  const int64_t slices = 2 * cp, rest = length % slices, base = length / slices;
  const auto left_over = [&](int64_t rank) {
    const int64_t behind = (rank - turn + cp) % cp;  // ranks that are dealt to before this one
    return rest > behind ? (rest - behind - 1) / cp + 1 : 0;
  };
  int64_t at = 0;
  for (int64_t slice = 0; slice < slices; ++slice) {
    const bool head = slice < cp;
    const int64_t rank = head ? slice : slices - 1 - slice;
    const int64_t size = base + (left_over(rank) > (head ? 0 : 1) ? 1 : 0);
    give(static_cast<int32_t>(rank), Range{at, at + size});
    at += size;
  }
  turn = (turn + rest) % cp;
}

// Size of part `index` when `total` is cut into `parts` that differ by at most one, larger parts first.
inline int64_t even_part(int64_t total, int64_t parts, int64_t index) {
  return total / parts + (index < total % parts ? 1 : 0);
}

}  // namespace counterpoise
