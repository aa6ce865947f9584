// SPDX-License-Identifier: Apache-2.0
#include "counterpoise/area.h"

#include <gtest/gtest.h>

#include "counterpoise/random.h"

namespace counterpoise {
namespace {

int64_t count_pairs(Range q, Range kv, Mask mask) {
  int64_t pairs = 0;
  for (int64_t i = q.begin; i < q.end; ++i)
    for (int64_t j = kv.begin; j < kv.end; ++j) pairs += mask.visible(i, j);
  return pairs;
}

TEST(Area, CausalDocumentIsTriangle) {
  EXPECT_EQ(area({0, 4}, {0, 4}, Mask::causal()), 10);
  EXPECT_EQ(area({0, 1}, {0, 1}, Mask::causal()), 1);
  EXPECT_EQ(area({3, 4}, {0, 4}, Mask::causal()), 4);
  EXPECT_EQ(area({0, 0}, {0, 4}, Mask::causal()), 0);
  EXPECT_EQ(area({0, 3}, {0, 4}, Mask::full()), 12);
}

TEST(Area, LongDocumentDoesNotOverflow) {
  const int64_t n = int64_t{1} << 31;
  EXPECT_EQ(area({0, n}, {0, n}, Mask::causal()), n / 2 * (n + 1));
  EXPECT_EQ(area({0, n}, {0, n}, Mask::sliding_window(2)), 2 * n - 1);
}

TEST(Area, AgreesWithCountingOnRandomRectangles) {
  constexpr uint64_t kSeed = 17;
  RandomStream random(kSeed);
  SCOPED_TRACE(testing::Message() << "seed " << kSeed);
  auto draw = [&] { return static_cast<int64_t>(random.below(24)); };
  for (int i = 0; i < 20000; ++i) {
    const Range q{draw(), draw()}, kv{draw(), draw()};
    const Mask mask{draw() - 1, draw() - 1};
    ASSERT_EQ(area(q, kv, mask), count_pairs(q, kv, mask))
        << q.begin << ".." << q.end << " x " << kv.begin << ".." << kv.end << " mask " << mask.left << ","
        << mask.right;
  }
}

TEST(Area, VisibleKeysAreExactlyTheOnesSeen) {
  for (const Mask mask : {Mask::full(), Mask::causal(), Mask::sliding_window(3), Mask{2, 1}}) {
    for (int64_t begin = 0; begin < 8; ++begin) {
      for (int64_t end = begin; end <= 8; ++end) {
        const Range seen = visible_keys({begin, end}, 8, mask);
        for (int64_t k = 0; k < 8; ++k)
          EXPECT_EQ(k >= seen.begin && k<seen.end, area({begin, end}, {k, k + 1}, mask)> 0);
      }
    }
  }
}

}  // namespace
}  // namespace counterpoise
