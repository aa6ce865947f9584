// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>

#include "counterpoise/plan_loads.h"

namespace counterpoise {
namespace {

struct RowRange {
  int32_t document;
  Range range;
  auto operator<=>(const RowRange&) const = default;
};

// Rows of the union of `ranges` that the rank does not hold.
int64_t foreign_rows(std::vector<RowRange> ranges, std::span<const PlanPiece> held) {
  std::sort(ranges.begin(), ranges.end());
  int64_t rows = 0;
  size_t piece = 0;
  int32_t document = -1;
  int64_t reached = 0;  // of `document`: rows before are counted
  for (const RowRange& next : ranges) {
    if (next.document != document) reached = 0;
    document = next.document;
    const Range fresh{std::max(next.range.begin, reached), next.range.end};
    if (fresh.empty()) continue;
    reached = fresh.end;
    rows += fresh.size();
    while (piece < held.size() &&
           (held[piece].document < document ||
            (held[piece].document == document && held[piece].range.end <= fresh.begin))) {
      ++piece;
    }
    for (size_t i = piece; i < held.size() && held[i].document == document && held[i].range.begin < fresh.end;
         ++i) {
      rows -= intersect(held[i].range, fresh).size();
    }
  }
  return rows;
}

}  // namespace

// Tiles of one rank with the same heads are taken together. If a rank's tiles have several head ranges, their
// kv heads may overlap, so for keys only the largest of the groups is counted: still a bound.
Traffic traffic_of(const StepPlan& plan, const WindowPlan& window, bool backward) {
  const Pass& pass = backward ? window.backward : window.forward;
  Traffic traffic;
  std::vector<int64_t> sent(plan.cp, 0);
  for (const Transfer& transfer : pass.transfers) sent[transfer.src] += transfer.bytes;
  for (int64_t bytes : sent) {
    traffic.sent += bytes;
    traffic.most_sent = std::max(traffic.most_sent, bytes);
  }
  std::map<std::pair<int32_t, HeadRange>, std::pair<std::vector<RowRange>, std::vector<RowRange>>> used;
  for (const Tile& tile : pass.tiles) {
    auto& [queries, keys] = used[{tile.rank, tile.heads}];
    queries.push_back({tile.document, tile.q});
    keys.push_back({tile.document, tile.kv});
  }
  const auto bytes = [&](Payload payload) { return payload_bytes(plan.shape, payload); };
  const int64_t per_query =
      backward ? bytes(Payload::kQBack) + bytes(Payload::kDq)
               : bytes(Payload::kQ) + std::min(bytes(Payload::kOut), bytes(Payload::kPartial));
  const int64_t per_key = bytes(Payload::kKv) + (backward ? bytes(Payload::kDkv) : 0);
  std::vector<int64_t> keys_of(plan.cp, 0);
  for (auto& [who, rows] : used) {
    const auto& [rank, heads] = who;
    const std::span<const PlanPiece> held = window.list(window.placement[rank]);
    traffic.least += foreign_rows(std::move(rows.first), held) * heads.size() * per_query;
    const int64_t keys = foreign_rows(std::move(rows.second), held) * plan.shape.kv_heads_of(heads).size();
    keys_of[rank] = std::max(keys_of[rank], keys * per_key);
  }
  for (int64_t keys : keys_of) traffic.least += keys;
  return traffic;
}

}  // namespace counterpoise
