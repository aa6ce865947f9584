// SPDX-License-Identifier: Apache-2.0
#include "plan/needs.h"

namespace counterpoise {

std::vector<OwnedRange> owned_ranges(const Placement& placement) {
  std::vector<OwnedRange> owned;
  owned.reserve(placement.ranges.size());
  for (int32_t rank = 0; rank < placement.cp(); ++rank) {
    for (const HeldRange& held : placement.of(rank)) owned.push_back({held.document, held.range, rank});
  }
  std::sort(owned.begin(), owned.end(), [](const OwnedRange& a, const OwnedRange& b) {
    return std::pair{a.document, a.range.begin} < std::pair{b.document, b.range.begin};
  });
  return owned;
}

void make_disjoint(std::vector<HeldRange>& ranges) {
  std::sort(ranges.begin(), ranges.end());
  size_t kept = 0;
  for (const HeldRange& next : ranges) {
    if (next.range.empty()) continue;
    if (kept > 0 && ranges[kept - 1].document == next.document &&
        next.range.begin <= ranges[kept - 1].range.end) {
      ranges[kept - 1].range.end = std::max(ranges[kept - 1].range.end, next.range.end);
    } else {
      ranges[kept++] = next;
    }
  }
  ranges.resize(kept);
}

std::vector<HeldRange> needed_keys(std::span<const Work> work, std::span<const int64_t> lengths, Mask mask) {
  std::vector<HeldRange> keys;
  for (const Work& one : work) {
    keys.push_back({one.document, intersect(one.kv, visible_keys(one.q, lengths[one.document], mask))});
  }
  make_disjoint(keys);
  return keys;
}

}  // namespace counterpoise
