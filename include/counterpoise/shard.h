// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "counterpoise/area.h"

// Sharders: tokens of a window -> ranks of its group. Any length, any cp >= 1, no padding.
namespace counterpoise {

struct HeldRange {
  int32_t document = 0;  // index into the window
  Range range;
  auto operator<=>(const HeldRange&) const = default;
};

// Which tokens each rank holds. Every token of the window is held by exactly one rank. A rank's ranges are
// sorted by (document, begin), none is empty and none touches the next: that order is the rank's local order.
struct Placement {
  std::vector<HeldRange> ranges;
  std::vector<int32_t> begin{0};  // rank r holds ranges[begin[r], begin[r + 1])

  int32_t cp() const { return static_cast<int32_t>(begin.size()) - 1; }
  std::span<const HeldRange> of(int32_t rank) const {
    return std::span(ranges).subspan(begin[rank], begin[rank + 1] - begin[rank]);
  }
  int64_t tokens(int32_t rank) const;
  auto operator<=>(const Placement&) const = default;
};

struct ShardOptions {
  int64_t block = 0;  // striped: tokens per stripe, 0 = 128
  int64_t token_cap =
      0;  // whole_document, adaptive: most tokens of a window on one rank, 0 = decided by the policy
  auto operator<=>(const ShardOptions&) const = default;
};

struct ShardInput {
  std::span<const int64_t> lengths;  // tokens of the window's documents, each >= 0
  int32_t cp = 1;
  Mask mask = Mask::causal();
  ShardOptions options;
};

// Throws kUsage for an unknown policy (naming the known ones) and kInfeasible where a cap cannot be kept.
Placement shard_window(const std::string& policy, const ShardInput& input);

struct SharderInfo {
  std::string name;
  std::string summary;
};
std::vector<SharderInfo> sharders();

}  // namespace counterpoise
