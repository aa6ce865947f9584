// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "kernels/backend.h"
#include "kernels/simd/kv_blocks.h"
#include "kernels/simd/query_blocks.h"

namespace counterpoise {

// Who does what in the backward pass. An item owns the dk and dv of one block of keys for one key/value head
// and visits, in a fixed order, every block of queries that sees them. Items come costliest first.
class BackwardPlan {
 public:
  struct Item {
    int64_t block;
    int64_t kv_head;
    double cost;
  };
  struct Visit {
    const AttentionTile* tile;
    int64_t head;
    int64_t query_block;
    Range keys;  // positions of the item's keys that belong to the tile
  };

  BackwardPlan(const AttentionProblem& problem, const KvBlocks& kv, const QueryBlocks& queries,
               Range kv_heads);

  const std::vector<Item>& items() const { return items_; }
  // For the i-th item: how many earlier items visit what its visits visit; empty with one thread.
  const std::vector<uint32_t>& turns(int64_t item) const { return turns_[item]; }

  template <typename F>
  void for_each_visit(const Item& item, F visit) const {
    const Range group{item.kv_head * problem_.group(), (item.kv_head + 1) * problem_.group()};
    for (const TileBlocks& t : tiles_of_block_[item.block]) {
      const Range rows = kv_.rows(item.block);
      const Range keys =
          intersect(t.tile->kv, {rows.begin + kv_shift(*t.tile), rows.end + kv_shift(*t.tile)});
      const Range heads = intersect(t.tile->heads, group);
      for (int64_t head = heads.begin; head < heads.end; ++head)
        for (int64_t block = t.first; block < t.last; ++block)
          if (sees(*t.tile, queries_.blocks[block].rows, keys)) visit(Visit{t.tile, head, block, keys});
    }
  }

 private:
  struct TileBlocks {
    const AttentionTile* tile;
    int64_t first, last;  // blocks of queries
  };
  bool sees(const AttentionTile& tile, Range rows, Range keys) const {
    const Range q{rows.begin + q_shift(tile), rows.end + q_shift(tile)};
    return !intersect(keys, visible_keys(q, keys.end, problem_.mask)).empty();
  }
  void find_tiles();
  void set_turns(Range kv_heads);

  const AttentionProblem& problem_;
  const KvBlocks& kv_;
  const QueryBlocks& queries_;
  std::vector<std::vector<TileBlocks>> tiles_of_block_;
  std::vector<Item> items_;
  std::vector<std::vector<uint32_t>> turns_;
};

}  // namespace counterpoise
