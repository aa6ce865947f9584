// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "shard/policies.h"

namespace counterpoise {

// Builds a placement document by document: some cut in zigzag slices over all ranks, the others whole on the
// rank with the least area that has room. Never more than `cap` tokens on a rank.
class WholePlacer {
 public:
  // Throws kInfeasible where the window cannot fit. cap 0: `default_cap`.
  WholePlacer(const char* policy, const ShardInput& input, int64_t default_cap);

  int64_t cap() const { return cap_; }
  // Documents longest first (ties: the earlier one first).
  const std::vector<int32_t>& longest_first() const { return order_; }
  // Cuts a document evenly; only before the first place().
  void cut(int32_t document);
  // Places a document whole; where no rank has room, in as few runs as the room allows, largest room first.
  void place(int32_t document);

  int64_t most_area() const;
  // Rows of keys that some other rank must read, summed over ranks.
  int64_t moved_rows() const { return moved_rows_; }
  Placement finish() const { return builder_.finish(); }

 private:
  void give(int32_t rank, int32_t document, Range range);
  int32_t least_loaded(int64_t tokens) const;

  const ShardInput& input_;
  int64_t cap_ = 0;
  int64_t turn_ = 0;
  int64_t moved_rows_ = 0;
  std::vector<int32_t> order_;
  std::vector<int64_t> tokens_, area_;
  PlacementBuilder builder_;
};

}  // namespace counterpoise
