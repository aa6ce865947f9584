// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>
#include <vector>

#include "counterpoise/attention.h"
#include "kernels/strips.h"

namespace counterpoise {

// The rows of k and v that some tile reads, in blocks of at most `size` rows that start anew at every tile's
// first row: a tile begins on a block's edge and may end inside a block.
class KvBlocks {
 public:
  KvBlocks(std::span<const AttentionTile> tiles, int64_t size);

  size_t count() const { return blocks_.size(); }
  Range rows(size_t block) const { return blocks_[block]; }
  // Rows of all blocks before this one: where it lies in a packed copy of the used rows.
  int64_t offset(size_t block) const { return offsets_[block]; }
  int64_t total_rows() const { return total_rows_; }
  // Blocks [first, last) that hold some of these rows; every row in between must be in use.
  std::pair<size_t, size_t> covering(Range rows) const;
  // Blocks [first, last) that hold keys of the tile that some of these q rows see.
  std::pair<size_t, size_t> seen(const AttentionTile& tile, Range q_rows, const Mask& mask) const;

 private:
  std::vector<Range> blocks_;
  std::vector<int64_t> offsets_;
  int64_t total_rows_ = 0;
};

}  // namespace counterpoise
