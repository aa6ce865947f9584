// SPDX-License-Identifier: Apache-2.0
#include "plan/lower.h"

#include "plan/pass_builder.h"
#include "plan/tile_maker.h"

namespace counterpoise {
namespace {

// Consecutive tiles that a rank computes at one forward step.
struct TileGroup {
  int32_t rank;
  int32_t step;
  int32_t first;
  int32_t count;
};

// All tiles of the window in forward order, buffers left as block numbers.
void make_tiles(const TileMaker& maker, const Routes& routes, std::vector<Tile>& tiles,
                std::vector<TileGroup>& groups) {
  for (int32_t rank = 0; rank < routes.cp; ++rank) {
    for (int32_t step = 0; step < routes.steps; ++step) {
      const int32_t first = static_cast<int32_t>(tiles.size());
      maker.append(rank, step, tiles);
      const int32_t count = static_cast<int32_t>(tiles.size()) - first;
      if (count > 0) groups.push_back({rank, step, first, count});
    }
  }
}

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
  make_tiles(TileMaker(window, rows, routes, topology, shape.mask), routes, tiles, groups);

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
