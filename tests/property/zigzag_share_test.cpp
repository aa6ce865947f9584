// SPDX-License-Identifier: Apache-2.0
// The share that is priced and measured beside the one that is planned.
#include <gtest/gtest.h>

#include <cstdlib>

#include "counterpoise/cost_model.h"
#include "counterpoise/random.h"
#include "counterpoise/shard.h"

namespace counterpoise {
namespace {

constexpr uint64_t kSeed = 5;

std::vector<WorkShape> tiles_of(const Placement& placement, int32_t rank, int32_t document) {
  std::vector<WorkShape> tiles;
  for (const HeldRange& held : placement.of(rank))
    if (held.document == document) tiles.push_back(causal_share(held.range.size(), held.range.end, {}));
  return tiles;
}

int64_t rows_of(const std::vector<WorkShape>& tiles) {
  int64_t rows = 0;
  for (const WorkShape& tile : tiles) rows += tile.q_rows;
  return rows;
}

void expect_same_tiles(const std::vector<WorkShape>& a, const std::vector<WorkShape>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(a[i].q_rows, b[i].q_rows);
    EXPECT_EQ(a[i].kv_rows, b[i].kv_rows);
    EXPECT_EQ(a[i].area, b[i].area);
  }
}

TEST(ZigzagShare, IsTheShardersButForLeftOverTokens) {
  RandomStream random(kSeed);
  for (int i = 0; i < 300; ++i) {
    const auto cp = static_cast<int32_t>(1 + random.below(16));
    const bool even = random.below(2) == 0;
    std::vector<int64_t> lengths(1 + random.below(6));
    for (int64_t& length : lengths)
      length = static_cast<int64_t>(even ? random.below(50) * 2 * cp : random.below(1000));
    const Placement placement = shard_window("per_document_zigzag", {lengths, cp, Mask::causal(), {}});
    for (int32_t rank = 0; rank < cp; ++rank)
      for (int32_t document = 0; document < static_cast<int32_t>(lengths.size()); ++document) {
        SCOPED_TRACE(::testing::Message() << "seed " << kSeed << " window " << i << " rank " << rank << " of "
                                          << cp << ", document of " << lengths[document]);
        const std::vector<WorkShape> planned = tiles_of(placement, rank, document),
                                     priced = zigzag_share(lengths[document], cp, rank, {});
        if (even) expect_same_tiles(planned, priced);
        EXPECT_LE(std::abs(rows_of(planned) - rows_of(priced)), 2);
        if (HasFailure()) return;
      }
  }
}

}  // namespace
}  // namespace counterpoise
