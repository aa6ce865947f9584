// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>

#include "cost/blocks.h"
#include "cost/nnls.h"
#include "counterpoise/area.h"
#include "counterpoise/random.h"

namespace counterpoise {
namespace {

int64_t ceil_div(int64_t a, int64_t b) {
  return (a + b - 1) / b;
}

// Blocks a causal kernel visits, counted row by row of q blocks.
BlockCounts count_slowly(int64_t q_rows, int64_t kv_rows, KernelTile tile) {
  BlockCounts counts;
  for (int64_t begin = 0; begin < q_rows; begin += tile.q) {
    const int64_t end = std::min(begin + tile.q, q_rows);
    const int64_t blocks = ceil_div(kv_rows - q_rows + end, tile.kv);
    ++counts.groups;
    counts.blocks += blocks;
    counts.longest = std::max(counts.longest, blocks);
  }
  return counts;
}

TEST(Blocks, FloorSumAgreesWithTheLoop) {
  for (int64_t n = 0; n < 12; ++n)
    for (int64_t m = 1; m < 9; ++m)
      for (int64_t a = 0; a < 20; a += 3)
        for (int64_t b = 0; b < 20; b += 4) {
          int64_t sum = 0;
          for (int64_t i = 0; i < n; ++i) sum += (a * i + b) / m;
          ASSERT_EQ(floor_sum(n, m, a, b), sum) << n << " " << m << " " << a << " " << b;
        }
}

TEST(Blocks, CausalSharesAreCountedExactly) {
  constexpr uint64_t kSeed = 5;
  RandomStream random(kSeed);
  SCOPED_TRACE(testing::Message() << "seed " << kSeed);
  for (int i = 0; i < 5000; ++i) {
    const int64_t q = 1 + static_cast<int64_t>(random.below(300));
    const int64_t kv = q + static_cast<int64_t>(random.below(300));
    const KernelTile tile{1 + static_cast<int64_t>(random.below(70)),
                          1 + static_cast<int64_t>(random.below(70))};
    const BlockCounts fast = count_blocks(causal_share(q, kv, {}), tile), slow = count_slowly(q, kv, tile);
    ASSERT_EQ(fast.groups, slow.groups);
    ASSERT_EQ(fast.blocks, slow.blocks) << q << " x " << kv << " tile " << tile.q << " x " << tile.kv;
    ASSERT_EQ(fast.longest, slow.longest);
  }
}

TEST(Blocks, FullTilesAndWindows) {
  const WorkShape full{100, 200, 100 * 200, {}, -1};
  EXPECT_EQ(count_blocks(full, {64, 64}).blocks, 2 * 4);
  EXPECT_EQ(count_blocks(full, {64, 64}).masked, 0);
  EXPECT_EQ(count_blocks({100, 200, 0, {}, -1}, {64, 64}).groups, 0);
  // A window of 64 keys over 1024 rows visits two or three blocks of 64 per q block of 64.
  const WorkShape window{1024, 1024, area({0, 1024}, {0, 1024}, Mask::sliding_window(64)), {}, -1};
  const BlockCounts counts = count_blocks(window, {64, 64});
  EXPECT_GE(counts.blocks, 16 * 2 - 1);
  EXPECT_LE(counts.blocks, 16 * 3);
}

TEST(WorkShape, ZigzagSharesCoverTheDocumentEvenly) {
  for (const int64_t length : {0, 1, 2, 7, 16, 100, 4096, 4099})
    for (const int64_t cp : {1, 2, 3, 8}) {
      int64_t rows = 0, pairs = 0, most = 0;
      for (int64_t rank = 0; rank < cp; ++rank) {
        int64_t own = 0;
        for (const WorkShape& tile : zigzag_share(length, cp, rank, {})) {
          EXPECT_GT(tile.q_rows, 0);
          rows += tile.q_rows;
          own += tile.area;
        }
        pairs += own;
        most = std::max(most, own);
      }
      EXPECT_EQ(rows, length);
      EXPECT_EQ(pairs, length * (length + 1) / 2);
      EXPECT_LE(most - pairs / cp, length) << cp;  // chunks differ by at most one row
    }
  EXPECT_EQ(zigzag_share(4096, 1, 0, {}).size(), 1u);
  EXPECT_EQ(zigzag_share(4096, 8, 0, {}).size(), 2u);
  EXPECT_EQ(zigzag_share(4096, 8, 7, {}).size(), 1u);
}

TEST(NonNegativeLeastSquares, FindsTheConstrainedOptimum) {
  // Unconstrained solution is (2, -1): the optimum on the boundary is x = <a, b> / <a, a>.
  const std::vector<std::vector<double>> rows = {{1, 1}, {1, 0}, {0, 1}};
  const std::vector<double> x = nonnegative_least_squares(rows, {1, 2, -1});
  EXPECT_NEAR(x[0], 1.5, 1e-12);
  EXPECT_EQ(x[1], 0);
  // Dependent columns: one of them carries the weight.
  const std::vector<double> twin = nonnegative_least_squares({{1, 2}, {2, 4}, {3, 6}}, {1, 2, 3});
  EXPECT_NEAR(twin[0] + 2 * twin[1], 1, 1e-9);
  // All directions uphill: zero.
  EXPECT_EQ(nonnegative_least_squares({{1, 0}, {0, 1}}, {-1, -1}), (std::vector<double>{0, 0}));
}

TEST(NonNegativeLeastSquares, NoNeighbourIsBetter) {
  constexpr uint64_t kSeed = 11;
  RandomStream random(kSeed);
  SCOPED_TRACE(testing::Message() << "seed " << kSeed);
  for (int round = 0; round < 200; ++round) {
    std::vector<std::vector<double>> rows(12, std::vector<double>(4));
    std::vector<double> right(12);
    for (auto& row : rows)
      for (double& value : row) value = random.normal();
    for (double& value : right) value = random.normal();
    const auto error = [&](const std::vector<double>& x) {
      double sum = 0;
      for (size_t r = 0; r < rows.size(); ++r) {
        double off = -right[r];
        for (size_t i = 0; i < x.size(); ++i) off += rows[r][i] * x[i];
        sum += off * off;
      }
      return sum;
    };
    const std::vector<double> x = nonnegative_least_squares(rows, right);
    for (size_t i = 0; i < x.size(); ++i)
      for (const double step : {-1e-4, 1e-4}) {
        std::vector<double> other = x;
        other[i] = std::max(0.0, x[i] + step);
        EXPECT_GE(error(other), error(x) - 1e-12);
      }
  }
}

}  // namespace
}  // namespace counterpoise
