// SPDX-License-Identifier: Apache-2.0
#include "plan/lower.h"

#include <algorithm>

#include "plan/pass_builder.h"

namespace counterpoise {
namespace {

// Consecutive tiles that a rank computes at one forward step.
struct TileGroup {
  int32_t rank;
  int32_t step;
  int32_t first;
  int32_t count;
};

// Queries of q that see at least one key of kv.
Range seeing_queries(Range q, Range kv, Mask mask) {
  const int64_t begin = mask.right < 0 ? q.begin : std::max(q.begin, kv.begin - mask.right);
  const int64_t end = mask.left < 0 ? q.end : std::min(q.end, kv.end + mask.left);
  return {begin, end};
}

class TileMaker {
 public:
  TileMaker(const WindowPlan& window, const WindowRows& rows, const Routes& routes, const Topology& topology,
            const AttentionShape& shape)
      : window_(window), rows_(rows), routes_(routes), topology_(topology), shape_(shape) {}

  // Tiles in forward order, buffers left as block numbers (q_buffer, kv_buffer).
  void make(std::vector<Tile>& tiles, std::vector<TileGroup>& groups) {
    std::vector<std::vector<int32_t>> queries(routes_.cp), keys(routes_.cp);
    for (int32_t block = 0; block < static_cast<int32_t>(topology_.blocks.size()); ++block) {
      auto& of_kind = topology_.blocks[block].keys ? keys : queries;
      of_kind[topology_.blocks[block].rank].push_back(block);
    }
    for (int32_t rank = 0; rank < routes_.cp; ++rank) {
      for (int32_t step = 0; step < routes_.steps; ++step) {
        const int32_t first = static_cast<int32_t>(tiles.size());
        for (int32_t q : queries[rank]) {
          for (int32_t kv : keys[rank]) {
            if (std::max(topology_.blocks[q].step, topology_.blocks[kv].step) == step) add_pair(q, kv, tiles);
          }
        }
        const int32_t count = static_cast<int32_t>(tiles.size()) - first;
        if (count > 0) groups.push_back({rank, step, first, count});
      }
    }
  }

 private:
  // All tiles of a block of queries and a block of keys: a walk over two lists sorted by document.
  void add_pair(int32_t q_block, int32_t kv_block, std::vector<Tile>& tiles) const {
    const std::span<const PlanPiece> keys = window_.list(rows_.of_block(kv_block));
    const HeadRange heads = routes_.heads[topology_.blocks[q_block].rank];
    if (heads.size() == 0) return;
    size_t at = 0;
    for (const Work& work : rows_.work(q_block)) {
      while (at < keys.size() && keys[at].document < work.document) ++at;
      const int64_t length = window_.documents[work.document].length;
      const Range seen = intersect(work.kv, visible_keys(work.q, length, shape_.mask));
      for (size_t i = at; i < keys.size() && keys[i].document == work.document; ++i) {
        if (keys[i].range.begin >= seen.end) break;
        const Range kv = intersect(keys[i].range, seen);
        if (kv.empty()) continue;
        const Range q = seeing_queries(work.q, kv, shape_.mask);
        if (q.empty()) continue;
        tiles.push_back({work.document, work.rank, q, kv, heads, q_block, kv_block, -1, -1});
      }
    }
  }

  const WindowPlan& window_;
  const WindowRows& rows_;
  const Routes& routes_;
  const Topology& topology_;
  const AttentionShape& shape_;
};

void place_tiles(std::span<Tile> tiles, const PassBuilder& builder, bool backward) {
  for (Tile& tile : tiles) {
    tile.q_result = builder.result_buffer(tile.q_buffer);
    tile.kv_result = backward ? builder.result_buffer(tile.kv_buffer) : -1;
    tile.q_buffer = builder.input_buffer(tile.q_buffer);
    tile.kv_buffer = builder.input_buffer(tile.kv_buffer);
  }
}

}  // namespace

WindowPlan lower_window(std::vector<PlanDocument> documents, const Placement& placement, const Routes& routes,
                        const Topology& topology, const AttentionShape& shape, bool backward) {
  WindowPlan window;
  window.documents = std::move(documents);
  WindowRows rows(window, placement, routes, topology, shape);
  std::vector<Tile> tiles;
  std::vector<TileGroup> groups;
  TileMaker(window, rows, routes, topology, shape).make(tiles, groups);

  if (backward) {
    PassBuilder builder(window.backward, window, rows, routes, topology, shape, true);
    window.backward.tiles = tiles;
    place_tiles(window.backward.tiles, builder, true);
    for (const TileGroup& group : groups) {
      builder.attend(group.rank, routes.steps - group.step, group.first, group.count);
    }
    builder.finish(topology.backward);
  }
  PassBuilder builder(window.forward, window, rows, routes, topology, shape, false);
  window.forward.tiles = std::move(tiles);
  place_tiles(window.forward.tiles, builder, false);
  for (const TileGroup& group : groups) builder.attend(group.rank, group.step, group.first, group.count);
  builder.finish(topology.forward);
  return window;
}

}  // namespace counterpoise
