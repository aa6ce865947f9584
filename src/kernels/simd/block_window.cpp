// SPDX-License-Identifier: Apache-2.0
#include "kernels/simd/block_window.h"

#include "kernels/strips.h"

namespace counterpoise {

BlockWindow block_window(const AttentionProblem& problem, const AttentionTile& tile, Range keys, Range q_rows,
                         Range block_rows) {
  const Range q{q_rows.begin + q_shift(tile), q_rows.end + q_shift(tile)};
  const int64_t key0 = block_rows.begin + kv_shift(tile);
  const Range seen =
      intersect(intersect(keys, {key0, key0 + block_rows.size()}), visible_keys(q, keys.end, problem.mask));
  if (seen.empty()) return {0, 0, 0, 0, 0};
  return {static_cast<int>(seen.begin - key0), static_cast<int>(seen.end - key0),
          problem.mask.left < 0 ? -kNoLimit : clamp_limit(q.begin - problem.mask.left - key0),
          problem.mask.right < 0 ? kNoLimit : clamp_limit(q.begin + problem.mask.right - key0),
          static_cast<int>(q.size())};
}

}  // namespace counterpoise
