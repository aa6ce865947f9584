// SPDX-License-Identifier: Apache-2.0
#include "exec/plan_calls.h"

#include <algorithm>
#include <map>

#include "counterpoise/area.h"

namespace counterpoise {
namespace {

std::vector<int64_t> offsets_of(const std::vector<int64_t>& documents) {
  std::vector<int64_t> offsets = {0};
  for (const int64_t length : documents) offsets.push_back(offsets.back() + length);
  return offsets;
}

// Keys of one document that the tiles of a call read so far, as disjoint ranges by begin.
class SeenKeys {
 public:
  // Rows of `kv` not seen before; they are from now on.
  int64_t add(Range kv) {
    int64_t fresh = kv.size();
    for (const Range& range : ranges_) fresh -= intersect(range, kv).size();
    if (fresh > 0) merge(kv);
    return fresh;
  }

 private:
  void merge(Range kv) {
    std::erase_if(ranges_, [&](const Range& range) {
      if (range.end < kv.begin || range.begin > kv.end) return false;
      kv = {std::min(kv.begin, range.begin), std::max(kv.end, range.end)};
      return true;
    });
    ranges_.push_back(kv);
  }
  std::vector<Range> ranges_;
};

}  // namespace

TileCall zigzag_call(const std::vector<int64_t>& documents, int64_t cp, int64_t rank,
                     const CostShape& shape) {
  TileCall call;
  int64_t row = 0;
  for (const int64_t length : documents) {
    for (const WorkShape& work : zigzag_share(length, cp, rank, shape)) {
      const Range q{work.kv_rows - work.q_rows, work.kv_rows};
      call.tiles.push_back({q, {0, work.kv_rows}, {0, shape.heads}, row + q.begin, row});
      call.shapes.push_back(work);
    }
    row += length;
  }
  return call;
}

std::vector<TileCall> plan_calls(const std::string& sharder, const std::string& scheme, int32_t cp,
                                 int32_t rank, const std::vector<int64_t>& documents,
                                 const HeadShape& heads) {
  PlanRequest request;
  request.cp = cp;
  request.sharder = sharder;
  request.scheme = scheme;
  request.shape.heads = static_cast<int32_t>(heads.heads);
  request.shape.kv_heads = static_cast<int32_t>(heads.kv_heads);
  request.shape.head_dim = static_cast<int32_t>(heads.head_dim);
  request.shape.v_head_dim = static_cast<int32_t>(heads.value_dim());
  std::vector<PlanDocument> window;
  for (const int64_t length : documents) window.push_back({static_cast<int64_t>(window.size()), length});
  request.groups = {{window}};
  const StepPlan plan = make_plan(request);
  const Pass& pass = plan.groups[0].windows[0].forward;
  const std::vector<int64_t> offsets = offsets_of(documents);
  std::vector<TileCall> calls;
  for (const Op& op : pass.program(rank)) {
    if (op.kind != OpKind::kAttend) continue;
    TileCall& call = calls.emplace_back();
    std::map<int32_t, SeenKeys> seen;
    for (int32_t i = op.index; i < op.index + op.count; ++i) {
      const Tile& tile = pass.tiles[static_cast<size_t>(i)];
      const int64_t row = offsets[static_cast<size_t>(tile.document)];
      call.tiles.push_back(
          {tile.q, tile.kv, {tile.heads.begin, tile.heads.end}, row + tile.q.begin, row + tile.kv.begin});
      const HeadRange kv_heads = plan.shape.kv_heads_of(tile.heads);
      call.shapes.push_back({tile.q.size(),
                             tile.kv.size(),
                             area(tile.q, tile.kv, plan.shape.mask),
                             {tile.heads.size(), kv_heads.size(), heads.head_dim, heads.value_dim(), 4},
                             seen[tile.document].add(tile.kv)});
    }
  }
  return calls;
}

}  // namespace counterpoise
