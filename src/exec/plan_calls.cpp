// SPDX-License-Identifier: Apache-2.0
#include "exec/plan_calls.h"

#include "plan/call_tiles.h"

namespace counterpoise {

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

StepPlan window_plan(const std::string& sharder, const std::string& scheme, int32_t cp,
                     const std::vector<int64_t>& documents, const HeadShape& heads) {
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
  return make_plan(request);
}

namespace {

bool one_call(const Tile& a, const Tile& b) {
  return a.q_buffer == b.q_buffer && a.kv_buffer == b.kv_buffer && a.q_result == b.q_result &&
         a.heads == b.heads;
}

}  // namespace

std::vector<std::vector<WorkShape>> attend_shapes(const StepPlan& plan, int32_t rank) {
  const WindowPlan& window = plan.groups[0].windows[0];
  std::vector<std::vector<WorkShape>> calls;
  for (const Op& op : window.forward.program(rank)) {
    if (op.kind != OpKind::kAttend) continue;
    const std::span tiles =
        std::span(window.forward.tiles).subspan(static_cast<size_t>(op.index), static_cast<size_t>(op.count));
    for (size_t begin = 0, end = 0; begin < tiles.size(); begin = end) {
      while (end < tiles.size() && one_call(tiles[begin], tiles[end])) ++end;
      std::vector<WorkShape>& call = calls.emplace_back();
      for (const CallTile& tile : call_tiles(plan.shape, window.documents, tiles.subspan(begin, end - begin)))
        call.push_back(tile.work);
    }
  }
  return calls;
}

}  // namespace counterpoise
