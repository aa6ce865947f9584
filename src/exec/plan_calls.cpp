// SPDX-License-Identifier: Apache-2.0
#include "exec/plan_calls.h"

#include "plan/call_tiles.h"

namespace counterpoise {
namespace {

std::vector<int64_t> offsets_of(const std::vector<int64_t>& documents) {
  std::vector<int64_t> offsets = {0};
  for (const int64_t length : documents) offsets.push_back(offsets.back() + length);
  return offsets;
}

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
    const std::span tiles =
        std::span(pass.tiles).subspan(static_cast<size_t>(op.index), static_cast<size_t>(op.count));
    for (const Tile& tile : tiles) {
      const int64_t row = offsets[static_cast<size_t>(tile.document)];
      call.tiles.push_back(
          {tile.q, tile.kv, {tile.heads.begin, tile.heads.end}, row + tile.q.begin, row + tile.kv.begin});
    }
    for (const CallTile& tile : call_tiles(plan.shape, plan.groups[0].windows[0].documents, tiles))
      call.shapes.push_back(tile.work);
  }
  return calls;
}

}  // namespace counterpoise
