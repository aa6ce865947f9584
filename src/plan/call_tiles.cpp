// SPDX-License-Identifier: Apache-2.0
#include "plan/call_tiles.h"

#include <algorithm>
#include <numeric>

namespace counterpoise {
namespace {

// Rows of one document that the tiles of a call read so far, as ranges: sorted, disjoint, none touching.
class SeenRows {
 public:
  // Rows of `range` not seen before; they are from now on.
  int64_t add(Range range) {
    const auto first = std::partition_point(ranges_.begin(), ranges_.end(),
                                            [&](Range seen) { return seen.end < range.begin; });
    if (first != ranges_.end() && first->begin <= range.begin && range.end <= first->end) return 0;
    int64_t fresh = range.size();
    Range joined = range;
    auto last = first;
    for (; last != ranges_.end() && last->begin <= range.end; ++last) {
      fresh -= intersect(*last, range).size();
      joined = {std::min(joined.begin, last->begin), std::max(joined.end, last->end)};
    }
    ranges_.insert(ranges_.erase(first, last), joined);
    return fresh;
  }
  void clear() { ranges_.clear(); }

 private:
  std::vector<Range> ranges_;
};

// Indices of the tiles, those of a document side by side and in order.
std::vector<size_t> by_document(std::span<const Tile> tiles) {
  std::vector<size_t> order(tiles.size());
  std::iota(order.begin(), order.end(), size_t{0});
  const auto earlier = [&](size_t a, size_t b) { return tiles[a].document < tiles[b].document; };
  if (!std::is_sorted(order.begin(), order.end(), earlier))
    std::stable_sort(order.begin(), order.end(), earlier);
  return order;
}

CostShape cost_shape_of(const AttentionShape& shape, HeadRange heads) {
  return {heads.size(), shape.kv_heads_of(heads).size(), shape.head_dim, shape.v_head_dim,
          shape.element_bytes};
}

}  // namespace

std::vector<CallTile> call_tiles(const AttentionShape& shape, std::span<const PlanDocument> documents,
                                 std::span<const Tile> tiles) {
  const std::vector<size_t> order = by_document(tiles);
  std::vector<CallTile> call(tiles.size());
  SeenRows keys, queries;
  for (size_t first = 0; first < order.size();) {
    const int32_t document = tiles[order[first]].document;
    keys.clear();
    queries.clear();
    int64_t rows = 0;
    size_t next = first;
    for (; next < order.size() && tiles[order[next]].document == document; ++next) {
      const Tile& tile = tiles[order[next]];
      rows += queries.add(tile.q);
      call[order[next]].work = {tile.q.size(), tile.kv.size(), area(tile.q, tile.kv, shape.mask),
                                cost_shape_of(shape, tile.heads), keys.add(tile.kv)};
    }
    for (; first < next; ++first) {
      call[order[first]].length = documents[static_cast<size_t>(document)].length;
      call[order[first]].rows = rows;
    }
  }
  return call;
}

}  // namespace counterpoise
