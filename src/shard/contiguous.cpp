// SPDX-License-Identifier: Apache-2.0
#include "shard/policies.h"

namespace counterpoise {

// Rank r holds the r-th of cp equal runs of the window. Tokens differ by at most one.
// Area of one causal document of L = n cp tokens: the last rank has n (L - n) + n (n + 1) / 2, the mean is
// n (L + 1) / 2, so max/mean = (2 L - n + 1) / (L + 1) < 2. With many documents a rank never has more than n
// keys per query beyond its own document's start, but max/mean is then bounded only by cp.
Placement shard_contiguous(const ShardInput& input) {
  const int64_t tokens = total_tokens(input.lengths);
  PlacementBuilder builder(input.cp);
  WindowCursor cursor(input.lengths, builder);
  for (int32_t rank = 0; rank < input.cp; ++rank) cursor.give(rank, even_part(tokens, input.cp, rank));
  return builder.finish();
}

}  // namespace counterpoise
