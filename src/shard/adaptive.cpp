// SPDX-License-Identifier: Apache-2.0
#include <limits>
#include <optional>

#include "shard/whole.h"

namespace counterpoise {
namespace {

// What moving one row of keys costs, in pairs of one head: a row of 512 bytes at 400 GB/s takes as long as
// about 250 pairs of 512 flops at 400 TFLOP/s with four query heads to a kv head.
constexpr double kPairsPerRow = 256;

// The `cut` longest documents in zigzag slices, the others whole.
WholePlacer placed(const ShardInput& input, size_t cut) {
  const int64_t share = (total_tokens(input.lengths) + input.cp - 1) / input.cp;
  WholePlacer placer("adaptive", input, 2 * share);
  const std::vector<int32_t>& documents = placer.longest_first();
  while (cut < documents.size() && input.lengths[documents[cut]] > placer.cap()) ++cut;
  for (size_t i = 0; i < documents.size(); ++i)
    i < cut ? placer.cut(documents[i]) : placer.place(documents[i]);
  return placer;
}

double cost_of(const WholePlacer& placer, int32_t cp) {
  return static_cast<double>(placer.most_area()) +
         kPairsPerRow * static_cast<double>(placer.moved_rows()) / cp;
}

}  // namespace

// Long documents in zigzag slices, short ones whole (as whole_document), the border where the cost is least:
// the area of the fullest rank plus the rows of keys an average rank receives. Tries to cut 0, 1, 2, 4, 8,
// ... and all documents. Tokens are at most the cap. Cutting all is one candidate, and it costs at most what
// per_document_zigzag has plus the rows, so area <= mean + (1.5 + 256) x tokens of the window.
Placement shard_adaptive(const ShardInput& input) {
  const size_t documents = input.lengths.size();
  double least = std::numeric_limits<double>::infinity();
  std::optional<Placement> best;
  for (size_t cut = 0;; cut = cut == 0 ? 1 : std::min(2 * cut, documents)) {
    const WholePlacer placer = placed(input, cut);
    const double cost = cost_of(placer, input.cp);
    if (cost < least) {
      least = cost;
      best = placer.finish();
    }
    if (cut >= documents) break;
  }
  return *best;
}

}  // namespace counterpoise
