// SPDX-License-Identifier: Apache-2.0
#include "plan/tile_maker.h"

#include <algorithm>

namespace counterpoise {
namespace {

// Queries of q that see at least one key of kv.
Range seeing_queries(Range q, Range kv, Mask mask) {
  const int64_t begin = mask.right < 0 ? q.begin : std::max(q.begin, kv.begin - mask.right);
  const int64_t end = mask.left < 0 ? q.end : std::min(q.end, kv.end + mask.left);
  return {begin, end};
}

}  // namespace

TileMaker::TileMaker(const WindowPlan& window, const WindowRows& rows, const Routes& routes,
                     const Topology& topology, Mask mask)
    : window_(window),
      rows_(rows),
      routes_(routes),
      topology_(topology),
      mask_(mask),
      queries_(routes.cp),
      keys_(routes.cp) {
  for (int32_t block = 0; block < static_cast<int32_t>(topology_.blocks.size()); ++block) {
    auto& of_kind = topology_.blocks[block].keys ? keys_ : queries_;
    of_kind[topology_.blocks[block].rank].push_back(block);
  }
}

void TileMaker::append(int32_t rank, int32_t step, std::vector<Tile>& tiles) const {
  for (int32_t q : queries_[rank]) {
    for (int32_t kv : keys_[rank]) {
      if (std::max(topology_.blocks[q].step, topology_.blocks[kv].step) == step) append_pair(q, kv, tiles);
    }
  }
}

// All tiles of a block of queries and a block of keys: a walk over two lists sorted by document.
void TileMaker::append_pair(int32_t q_block, int32_t kv_block, std::vector<Tile>& tiles) const {
  const std::span<const PlanPiece> keys = window_.list(rows_.of_block(kv_block));
  const HeadRange heads = routes_.heads[topology_.blocks[q_block].rank];
  if (heads.size() == 0) return;
  size_t at = 0;
  for (const Work& work : rows_.work(q_block)) {
    while (at < keys.size() && keys[at].document < work.document) ++at;
    const int64_t length = window_.documents[work.document].length;
    const Range seen = intersect(work.kv, visible_keys(work.q, length, mask_));
    for (size_t i = at; i < keys.size() && keys[i].document == work.document; ++i) {
      if (keys[i].range.begin >= seen.end) break;
      const Range kv = intersect(keys[i].range, seen);
      if (kv.empty()) continue;
      const Range q = seeing_queries(work.q, kv, mask_);
      if (q.empty()) continue;
      tiles.push_back({work.document, work.rank, q, kv, heads, q_block, kv_block, -1, -1});
    }
  }
}

}  // namespace counterpoise
