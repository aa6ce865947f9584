// SPDX-License-Identifier: Apache-2.0
#include "kernels/simd/backward_plan.h"

#include <algorithm>

namespace counterpoise {

BackwardPlan::BackwardPlan(const AttentionProblem& problem, const KvBlocks& kv, const QueryBlocks& queries,
                           Range kv_heads)
    : problem_(problem), kv_(kv), queries_(queries) {
  find_tiles();
  for (int64_t kv_head = kv_heads.begin; kv_head < kv_heads.end; ++kv_head) {
    const Range group{kv_head * problem.group(), (kv_head + 1) * problem.group()};
    for (size_t block = 0; block < kv.count(); ++block) {
      Item item{static_cast<int64_t>(block), kv_head, 0};
      for (const TileBlocks& t : tiles_of_block_[block]) {
        const Range rows = kv.rows(block);
        const Range keys =
            intersect(t.tile->kv, {rows.begin + kv_shift(*t.tile), rows.end + kv_shift(*t.tile)});
        item.cost += static_cast<double>(area(t.tile->q, keys, problem.mask)) *
                     static_cast<double>(intersect(t.tile->heads, group).size());
      }
      if (item.cost > 0) items_.push_back(item);
    }
  }
  std::stable_sort(items_.begin(), items_.end(),
                   [](const Item& a, const Item& b) { return a.cost > b.cost; });
  if (problem.threads > 1) set_turns(kv_heads);
}

void BackwardPlan::find_tiles() {
  tiles_of_block_.resize(kv_.count());
  for (const AttentionTile& tile : problem_.tiles) {
    if (tile.q.empty() || tile.kv.empty() || tile.heads.empty()) continue;
    const auto [first_query, last_query] = queries_.blocks_of(tile);
    const auto [first, last] = kv_.covering({tile.kv_row, tile.kv_row + tile.kv.size()});
    for (size_t block = first; block < last; ++block)
      tiles_of_block_[block].push_back({&tile, first_query, last_query});
  }
}

void BackwardPlan::set_turns(Range kv_heads) {
  const int64_t first_head = kv_heads.begin * problem_.group();
  const int64_t blocks = static_cast<int64_t>(queries_.blocks.size());
  std::vector<uint32_t> visited(blocks * kv_heads.size() * problem_.group());
  turns_.resize(items_.size());
  for (size_t i = 0; i < items_.size(); ++i)
    for_each_visit(items_[i], [&](const Visit& visit) {
      turns_[i].push_back(visited[(visit.head - first_head) * blocks + visit.query_block]++);
    });
}

}  // namespace counterpoise
