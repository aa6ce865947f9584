// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "counterpoise/law.h"
#include "counterpoise/random.h"
#include "sim/law_statistics.h"

namespace counterpoise {
namespace {

std::vector<double> lognormal_costs(double sigma, int n, uint64_t seed) {
  RandomStream random(seed);
  std::vector<double> costs(static_cast<size_t>(n));
  for (double& cost : costs) cost = std::exp(sigma * random.normal());
  return costs;
}

// The distribution of the sum of `dice` dice with `faces` faces, in whole numbers.
std::map<int, double> dice_sums(int faces, int dice) {
  std::map<int, double> sums{{0, 1.0}};
  for (int d = 0; d < dice; ++d) {
    std::map<int, double> next;
    for (const auto& [sum, mass] : sums) {
      for (int face = 1; face <= faces; ++face) next[sum + face] += mass / faces;
    }
    sums = next;
  }
  return sums;
}

// P(max < 2 min) over `groups` sums: the minimum at each value, everything else counted in whole numbers.
double share_below_two(const std::map<int, double>& sums, int groups) {
  double share = 0;
  for (const auto& [least, mass] : sums) {
    double from = 0, above = 0;
    for (const auto& [sum, m] : sums) {
      if (sum >= least && sum < 2 * least) from += m;
      if (sum > least && sum < 2 * least) above += m;
    }
    share += std::pow(from, groups) - std::pow(above, groups);
  }
  return share;
}

TEST(LawConvolution, DiceAreExact) {
  // 2 and 3 dice are enumerated, 8 and 20 of them lie on a lattice; tenths of pips do not round away.
  for (const double pip : {1.0, 0.1, 3e-7}) {
    std::vector<double> die;
    for (int face = 1; face <= 6; ++face) die.push_back(face * pip);
    for (const int dice : {2, 3, 8, 20}) {
      const CostDistribution mean = mean_of_windows(cost_distribution(die), dice);
      const std::map<int, double> sums = dice_sums(6, dice);
      ASSERT_EQ(mean.value.size(), sums.size()) << dice;
      EXPECT_TRUE(mean.cell.empty());
      size_t i = 0;
      for (const auto& [sum, mass] : sums) {
        EXPECT_NEAR(mean.value[i] / (sum * pip / dice), 1, 1e-12);
        EXPECT_NEAR(mean.mass[i], mass, 1e-14);
        ++i;
      }
      for (const int groups : {2, 8, 64}) {
        EXPECT_NEAR(law_of(die, dice, groups).share_below_2, share_below_two(sums, groups), 1e-11)
            << dice << " dice, " << groups << " groups, pip " << pip;
      }
    }
  }
}

TEST(LawConvolution, KeepsMeanAndVariance) {
  // Up to a largest cost 1000 times the median and more, and up to many windows.
  for (const double sigma : {0.01, 0.3, 1.0, 1.6}) {
    const CostDistribution window = cost_distribution(lognormal_costs(sigma, 100000, 11));
    for (const int64_t c : {2, 3, 5, 8, 16, 64, 257, 1024}) {
      const CostDistribution mean = mean_of_windows(window, c);
      EXPECT_NEAR(mean.mean() / window.mean(), 1, 1e-12) << sigma << " " << c;
      EXPECT_NEAR(mean.variance() * double(c) / window.variance(), 1, 1e-3) << sigma << " " << c;
    }
  }
}

TEST(LawConvolution, CostsThatDifferByRoundingAreOneCost) {
  std::vector<double> costs;
  for (int i = 0; i < 1000; ++i) costs.push_back(0.1 * (1 + 1e-15 * i));
  for (const int64_t c : {2, 64}) {
    const CostDistribution mean = mean_of_windows(cost_distribution(costs), c);
    EXPECT_EQ(mean.value.size(), 1u);
    EXPECT_NEAR(law_of(costs, c, 64).slowdown, 1, 1e-9);
  }
  // A spread of 1e-6 is one.
  for (size_t i = 0; i < costs.size(); ++i) costs[i] = 1 + 1e-6 * std::sqrt(double(i));
  const CostDistribution window = cost_distribution(costs);
  EXPECT_NEAR(mean_of_windows(window, 8).variance() * 8 / window.variance(), 1, 1e-3);
}

TEST(LawConvolution, OneHugeCostAmongSmallOnes) {
  // A median of 1 and 1 window in 1000 that costs 1000: the mean of c has steps near k * 1000 / c.
  std::vector<double> costs(999);
  for (size_t i = 0; i < costs.size(); ++i) costs[i] = 0.5 + double(i) / 998;
  costs.push_back(1000);
  const CostDistribution window = cost_distribution(costs);
  for (const int64_t c : {2, 16, 64}) {
    const CostDistribution mean = mean_of_windows(window, c);
    double without = 0;
    for (size_t i = 0; i < mean.value.size() && mean.value[i] < 1000.0 / double(c); ++i)
      without += mean.mass[i];
    EXPECT_NEAR(without, std::pow(0.999, double(c)), 1e-9) << c;
    EXPECT_NEAR(mean.variance() * double(c) / window.variance(), 1, 1e-3) << c;
  }
}

TEST(LawConvolution, TheLowEndIsAsFineAsItsMeansAreSmall) {
  // Costs over nine decades: the fastest of many groups is far below what one grid over all means resolves.
  // Sums of two of 1500 costs can be listed.
  const std::vector<double> costs = lognormal_costs(3.5, 1500, 21);
  std::vector<double> sums;
  for (const double a : costs) {
    for (const double b : costs) sums.push_back((a + b) / 2);
  }
  const CostDistribution exact = cost_distribution(sums);
  const CostDistribution mean = mean_of_windows(cost_distribution(costs), 2);
  EXPECT_NEAR(mean.mean() / exact.mean(), 1, 1e-12);
  for (const int64_t groups : {2, 8, 64, 512}) {
    EXPECT_NEAR(expected_max_over_min(cells_of(mean, 2000), groups) /
                    expected_max_over_min(cells_of(exact, 2000), groups),
                1, 0.01)
        << groups;
    EXPECT_NEAR(quantile_of_max_over_min(cells_of(mean, 8192), groups, 0.9).value() /
                    quantile_of_max_over_min(cells_of(exact, 8192), groups, 0.9).value(),
                1, 0.005)
        << groups;
  }
}

TEST(LawConvolution, ConvolvingTwiceIsConvolvingOnce) {
  // Means of 3 windows of means of 4, against means of 12: grids differ, quantiles may not.
  const CostDistribution window = cost_distribution(lognormal_costs(1.2, 20000, 5));
  CostDistribution four = mean_of_windows(window, 4);
  four.cell.clear();
  const Cells twice = cells_of(mean_of_windows(four, 3), 1 << 20);
  const Cells once = cells_of(mean_of_windows(window, 12), 1 << 20);
  size_t at_once = 0, at_twice = 0;
  for (double x = 0.5; x < 12; x *= 1.1) {
    EXPECT_NEAR(once.below(at_once, x), twice.below(at_twice, x), 2e-5) << x;
  }
}

TEST(LawConvolution, MergedCellsGiveTheSameLaws) {
  const CostDistribution window = cost_distribution(lognormal_costs(1.0, 200000, 3));
  const size_t all = window.value.size();
  for (const int64_t groups : {2, 8, 64, 1024}) {
    EXPECT_NEAR(expected_max_over_mean(cells_of(window, 4096), groups) /
                    expected_max_over_mean(cells_of(window, all), groups),
                1, 1e-4)
        << groups;
    const double share = share_of_ratios_below(cells_of(window, all), groups, 20, false);
    EXPECT_NEAR(share_of_ratios_below(cells_of(window, 8192), groups, 20, false), share, 1e-3 * share + 1e-12)
        << groups;
    EXPECT_NEAR(quantile_of_max_over_min(cells_of(window, 8192), groups, 0.5).value() /
                    quantile_of_max_over_min(cells_of(window, all), groups, 0.5).value(),
                1, 1e-3)
        << groups;
  }
  const CostDistribution small = cost_distribution(lognormal_costs(1.0, 6000, 3));
  for (const int64_t groups : {2, 8, 64, 1024}) {
    EXPECT_NEAR(expected_max_over_min(cells_of(small, 1000), groups) /
                    expected_max_over_min(cells_of(small, small.value.size()), groups),
                1, 2e-3)
        << groups;
  }
}

TEST(LawConvolution, HeavyAtomsStayAtoms) {
  std::vector<double> costs = lognormal_costs(1.0, 20000, 9);
  for (int i = 0; i < 4000; ++i) costs.push_back(1.25);
  const Cells cells = cells_of(cost_distribution(costs), 500);
  size_t at = 0;
  while (cells.value[at] != 1.25) ASSERT_LT(++at, cells.size());
  EXPECT_EQ(cells.lo[at], cells.hi[at]);
  EXPECT_NEAR(cells.mass[at], 4000.0 / 24000, 1e-12);
}

}  // namespace
}  // namespace counterpoise
