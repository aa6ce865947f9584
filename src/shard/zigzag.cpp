// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "shard/policies.h"

namespace counterpoise {

// 2 cp slices of the window, rank r holds slices r and 2 cp - 1 - r. Left-over tokens go to the head slices
// of ranks 0, 1, ... first and then to the tail slices of ranks 0, 1, ..., so that tokens per rank differ by
// at most one.
Placement shard_zigzag(const ShardInput& input) {
  const int64_t slices = int64_t{2} * input.cp;
  const int64_t tokens = total_tokens(input.lengths);
  const int64_t rest = tokens % slices;
  const int64_t in_heads = std::min<int64_t>(rest, input.cp);
  PlacementBuilder builder(input.cp);
  WindowCursor cursor(input.lengths, builder);
  for (int64_t slice = 0; slice < slices; ++slice) {
    const bool longer = slice < in_heads || slice >= slices - (rest - in_heads);
    const int64_t rank = std::min(slice, slices - 1 - slice);
    cursor.give(static_cast<int32_t>(rank), tokens / slices + (longer ? 1 : 0));
  }
  return builder.finish();
}

}  // namespace counterpoise
