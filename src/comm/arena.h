// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <map>

namespace counterpoise {

// Hands out pieces of a segment of `size` bytes: first fit over a sorted free list, 64-byte aligned, freed
// neighbours joined. Offsets only; knows no memory.
class Arena {
 public:
  explicit Arena(int64_t size) {
    if (size > 0) free_.emplace(0, size);
  }

  // -1 when no free piece is large enough.
  int64_t take(int64_t bytes) {
    const int64_t wanted = rounded(bytes);
    for (auto piece = free_.begin(); piece != free_.end(); ++piece) {
      const auto [offset, size] = *piece;
      if (size < wanted) continue;
      free_.erase(piece);
      if (size > wanted) free_.emplace(offset + wanted, size - wanted);
      return offset;
    }
    return -1;
  }

  void give_back(int64_t offset, int64_t bytes) {
    auto piece = free_.emplace(offset, rounded(bytes)).first;
    const auto next = std::next(piece);
    if (next != free_.end() && piece->first + piece->second == next->first) {
      piece->second += next->second;
      free_.erase(next);
    }
    if (piece == free_.begin()) return;
    const auto previous = std::prev(piece);
    if (previous->first + previous->second == piece->first) {
      previous->second += piece->second;
      free_.erase(piece);
    }
  }

 private:
  static int64_t rounded(int64_t bytes) { return bytes <= 0 ? 64 : (bytes + 63) / 64 * 64; }
  std::map<int64_t, int64_t> free_;  // offset -> size
};

}  // namespace counterpoise
