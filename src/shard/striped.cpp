// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "counterpoise/error.h"
#include "shard/policies.h"

namespace counterpoise {

// Blocks of the window dealt to the ranks in turn (Striped Attention, Brandon et al. 2023, with blocks
// instead of single tokens: a tile is a contiguous range). Tokens differ by at most one block of b.
// Area of one causal document of L tokens: max/mean < 1 + 3 b cp / L. In each of the n complete rounds
// neighbours differ by b^2 pairs, so over them max - mean <= n b^2 (cp - 1) / 2 < L b / 2; the last round
// adds at most b L. The mean is L (L + 1) / 2 cp. With several documents max/mean is bounded by cp only.
Placement shard_striped(const ShardInput& input) {
  constexpr int64_t kDefaultBlock = 128;
  const int64_t block = input.options.block == 0 ? kDefaultBlock : input.options.block;
  if (block < 1) throw_error(ErrorKind::kUsage, "striped: block {} must be at least 1", block);
  PlacementBuilder builder(input.cp);
  WindowCursor cursor(input.lengths, builder);
  int64_t rest = total_tokens(input.lengths);
  for (int64_t stripe = 0; rest > 0; ++stripe) {
    const int64_t taken = std::min(rest, block);
    cursor.give(static_cast<int32_t>(stripe % input.cp), taken);
    rest -= taken;
  }
  return builder.finish();
}

}  // namespace counterpoise
