// SPDX-License-Identifier: Apache-2.0
#include "shard/whole.h"

namespace counterpoise {

// Documents stay whole, the longest first onto the rank with the least area (LPT). Only a document above the
// cap is cut, evenly over all ranks; one that finds no room left is cut into the room there is. The default
// cap is twice an even share: memory for balance.
// Tokens are at most the cap. Area: while every rank has room for every document, a document goes to the rank
// with the least area, so the last one placed on the fullest rank started at or below the mean of the others:
// max is at most the mean plus (1 - 1/cp) times the largest document's area (Graham 1966).
Placement shard_whole_document(const ShardInput& input) {
  const int64_t share = (total_tokens(input.lengths) + input.cp - 1) / input.cp;
  WholePlacer placer("whole_document", input, 2 * share);
  for (int32_t document : placer.longest_first()) {
    if (input.lengths[document] > placer.cap()) placer.cut(document);
  }
  for (int32_t document : placer.longest_first()) {
    if (input.lengths[document] <= placer.cap()) placer.place(document);
  }
  return placer.finish();
}

}  // namespace counterpoise
