// SPDX-License-Identifier: Apache-2.0
#include "shard/policies.h"

namespace counterpoise {

// Every document in 2 cp slices, rank r holds slices r and 2 cp - 1 - r of each; left-over tokens are dealt
// on from document to document, so that tokens per rank differ by at most one in the whole window.
//
// Area, causal: no rank has more than the mean plus 1.5 times the window's tokens; for one document of L
// tokens, max/mean < 1 + 3 cp / L. Proof for one document, L = 2 cp b + rest, mean = (b + rest / 2 cp)(L +
// 1):
// - rest <= cp. Tail slices have b tokens, head slices b + e_i with e_i in {0, 1}; E_i of the heads before i
// are longer.
//   Summing positions gives area_i = b (L + 1) + b E_i + e_i (i b + E_i + b + 1). As E_i <= rest and b <= L /
//   2 cp, the first two terms are at most the mean, and the bracket, the end of a head slice, is at most L.
// - rest > cp. Head slices have b + 1 tokens, tail slices b + e_i and end at or before L - i b. Then
//   area_i <= b L + (i + 1)(2 b + 1) + e_i L, where (i + 1)(2 b + 1) <= cp (2 b + 1) < L, and the mean is
//   above (b + 1/2)(L + 1): the excess is below L / 2 + e_i L <= 1.5 L.
// Excesses of documents add up at worst. 1.5 L / mean = 3 cp / (L + 1).
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
