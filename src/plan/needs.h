// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "counterpoise/scheme.h"

namespace counterpoise {

// One range of the window and who holds it.
struct OwnedRange {
  int32_t document = 0;
  Range range;
  int32_t holder = 0;
};

// Every range of the window, in document order.
std::vector<OwnedRange> owned_ranges(const Placement& placement);

// Sorts and joins ranges that overlap or touch; drops empty ones.
void make_disjoint(std::vector<HeldRange>& ranges);

// The keys that the queries of `work` see: sorted, disjoint.
std::vector<HeldRange> needed_keys(std::span<const Work> work, std::span<const int64_t> lengths, Mask mask);

// Calls common(holder, document, range) for what both lists share, in document order. Both are sorted and
// disjoint.
template <typename Common>
void for_each_common(std::span<const OwnedRange> owned, std::span<const HeldRange> need, Common common) {
  size_t next = 0;
  for (const OwnedRange& own : owned) {
    const auto ends_before = [&](const HeldRange& range) {
      return std::pair{range.document, range.range.end} <= std::pair{own.document, own.range.begin};
    };
    while (next < need.size() && ends_before(need[next])) ++next;
    for (size_t i = next; i < need.size(); ++i) {
      if (need[i].document != own.document || need[i].range.begin >= own.range.end) break;
      common(own.holder, own.document, intersect(own.range, need[i].range));
    }
  }
}

}  // namespace counterpoise
