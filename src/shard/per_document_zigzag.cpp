// SPDX-License-Identifier: Apache-2.0
#include "shard/policies.h"

namespace counterpoise {

// Every document in 2 cp slices, rank r holds slices r and 2 cp - 1 - r of each; left-over tokens are dealt
// on from document to document, so that tokens per rank differ by at most one in the whole window.
Placement shard_per_document_zigzag(const ShardInput& input) {
  PlacementBuilder builder(input.cp);
  int64_t turn = 0;
  for (size_t document = 0; document < input.lengths.size(); ++document) {
    zigzag_slices(input.cp, input.lengths[document], turn, [&](int32_t rank, Range range) {
      builder.add(rank, static_cast<int32_t>(document), range);
    });
  }
  return builder.finish();
}

}  // namespace counterpoise
