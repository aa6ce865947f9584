// SPDX-License-Identifier: Apache-2.0
#include "counterpoise/law.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "counterpoise/error.h"

namespace counterpoise {
namespace {

// The exponential distribution in `n` equally likely parts, each at its conditional mean.
std::vector<double> exponential_costs(int n) {
  const auto integral_of_minus_log = [](double s) { return s == 0 ? 0 : s * (1 - std::log(s)); };
  std::vector<double> costs;
  for (int i = n; i > 0; --i) {
    costs.push_back((integral_of_minus_log(i / double(n)) - integral_of_minus_log((i - 1) / double(n))) * n);
  }
  return costs;
}

double harmonic(int n) {
  double sum = 0;
  for (int i = 1; i <= n; ++i) sum += 1.0 / i;
  return sum;
}

TEST(Law, ExponentialCostsGiveTheHarmonicNumber) {
  // For exponential costs max / mean does not depend on the mean: E[max / mean] = E[max] / E[mean] = H_G.
  const CostDistribution window = cost_distribution(exponential_costs(200000));
  EXPECT_NEAR(window.mean(), 1, 1e-9);
  for (const int groups : {2, 8, 64, 1024}) {
    const Law law = law_of(window, 1, groups);
    EXPECT_NEAR(law.max_over_mean / harmonic(groups), 1, 2e-4) << groups;
    EXPECT_NEAR(law.slowdown / harmonic(groups), 1, 2e-4) << groups;
  }
  EXPECT_NEAR(law_of(window, 1, 8).max_over_mean, 2.717857, 5e-5);
}

TEST(Law, SumsOfExponentialCostsAreGammaDistributed) {
  // As above, max / mean of gamma variables does not depend on their mean. E[max] = integral of 1 - F^G.
  const CostDistribution window = cost_distribution(exponential_costs(100000));
  for (const int cp : {2, 3, 8, 32}) {
    const auto gamma_cdf = [&](double x) {  // Erlang: 1 - e^-x sum x^k / k!
      double term = std::exp(-x), sum = term;
      for (int k = 1; k < cp; ++k) sum += term *= x / k;
      return 1 - sum;
    };
    for (const int groups : {2, 16, 512}) {
      double expected = 0;
      const double step = 1e-3;
      for (double x = step / 2; x < 4 * cp + 60; x += step) {
        expected += step * (1 - std::pow(gamma_cdf(x), groups)) / cp;
      }
      const Law law = law_of(window, cp, groups);
      EXPECT_NEAR(law.slowdown / expected, 1, 2e-4) << cp << " " << groups;
      EXPECT_NEAR(law.max_over_mean / expected, 1, 2e-4) << cp << " " << groups;
    }
  }
}

TEST(Law, TwoCostsTwoGroupsByHand) {
  const std::vector<double> costs{1, 3, 1, 1};
  const Law law = law_of(costs, 1, 2);
  EXPECT_DOUBLE_EQ(law.mean, 1.5);
  EXPECT_DOUBLE_EQ(law.variance, 0.75);
  EXPECT_DOUBLE_EQ(law.slowdown, 30.0 / 16 / 1.5);
  EXPECT_DOUBLE_EQ(law.wait_share, 1 - 16 * 1.5 / 30);
  EXPECT_DOUBLE_EQ(law.slowdown_micro_batch, law.slowdown);
  EXPECT_NEAR(law.max_over_mean, 10.0 / 16 + 1.5 * 6 / 16, 1e-9);
  EXPECT_NEAR(law.max_over_min_mean.value(), 10.0 / 16 + 3 * 6.0 / 16, 1e-12);
  EXPECT_NEAR(law.max_over_min_p50.value(), 1, 1e-9);
  EXPECT_NEAR(law.max_over_min_p90.value(), 3, 1e-8);
  EXPECT_DOUBLE_EQ(law.share_below_2, 10.0 / 16);
  EXPECT_NEAR(law.gaussian_slowdown, 1 + std::sqrt(0.75) / 1.5 * std::sqrt(2 * std::log(2.0)), 1e-12);
}

TEST(Law, ARatioOfExactlyTwoIsNotBelowTwo) {
  // Means of two: 1, 2, 3 times the smaller cost with 9, 6, 1 sixteenths. 0.1 + 0.1 and 0.1 + 0.3 round.
  for (const double unit : {1.0, 0.1, 1e-9, 1.0 / 3}) {
    const std::vector<double> costs{unit, 3 * unit, unit, unit};
    const Law law = law_of(costs, 2, 2);
    EXPECT_NEAR(law.share_below_2, (81 + 36 + 1 + 12) / 256.0, 1e-12) << unit;
    EXPECT_NEAR(law.max_over_min_mean.value(), (118 + 108 * 2 + 18 * 3 + 12 * 1.5) / 256, 1e-9) << unit;
    EXPECT_NEAR(law.max_over_mean, (118 + 108 * (2 / 1.5) + 18 * (3 / 2.0) + 12 * (3 / 2.5)) / 256, 1e-9);
    EXPECT_NEAR(law.slowdown_micro_batch, 1.25, 1e-12);
  }
}

TEST(Law, OneGroupNeverWaits) {
  for (const int cp : {1, 2, 7}) {
    const Law law = law_of(exponential_costs(1000), cp, 1);
    EXPECT_NEAR(law.slowdown, 1, 1e-12);
    EXPECT_DOUBLE_EQ(law.max_over_mean, 1);
    EXPECT_DOUBLE_EQ(law.gaussian_slowdown, 1);
    EXPECT_NEAR(law.share_below_2, 1, 1e-12);
    EXPECT_NEAR(law.max_over_min_p90.value(), 1, 1e-9);
    EXPECT_NEAR(law.max_over_min_mean.value(), 1, 1e-9);
  }
}

TEST(Law, ConstantCostsNeverWait) {
  for (const int cp : {1, 2, 64}) {
    const Law law = law_of(std::vector<double>(10, 3.7), cp, 1000);
    EXPECT_DOUBLE_EQ(law.slowdown, 1);
    EXPECT_NEAR(law.max_over_mean, 1, 1e-9);
    EXPECT_DOUBLE_EQ(law.share_below_2, 1);
    EXPECT_DOUBLE_EQ(law.max_over_min_p90.value(), 1);
    EXPECT_NEAR(law.max_over_min_mean.value(), 1, 1e-12);
    EXPECT_DOUBLE_EQ(law.cv, 0);
  }
}

TEST(Law, ZeroCostsMakeRatiosInfinite) {
  const Law half = law_of(std::vector<double>{0, 1}, 1, 2);
  EXPECT_DOUBLE_EQ(half.slowdown, 1.5);
  EXPECT_NEAR(half.max_over_mean, 0.25 * 1 + 0.5 * 2 + 0.25 * 1, 1e-9);
  EXPECT_FALSE(half.max_over_min_p50.has_value());
  EXPECT_FALSE(half.max_over_min_p90.has_value());
  EXPECT_FALSE(half.max_over_min_mean.has_value());
  EXPECT_DOUBLE_EQ(half.share_below_2, 0.25);

  const std::vector<double> values{0, 1}, weights{0.01, 0.99};
  const Law rare = law_of(cost_distribution(values, weights), 1, 2);
  EXPECT_DOUBLE_EQ(rare.max_over_min_p50.value(), 1);
  EXPECT_DOUBLE_EQ(rare.max_over_min_p90.value(), 1);
  EXPECT_FALSE(rare.max_over_min_mean.has_value());
  EXPECT_NEAR(rare.share_below_2, 0.99 * 0.99, 1e-15);
  // The mean of many windows is hardly ever 0, but it can be.
  EXPECT_FALSE(law_of(cost_distribution(values, weights), 16, 2).max_over_min_mean.has_value());
}

TEST(Law, AllZeroCosts) {
  const Law law = law_of(std::vector<double>{0, 0, 0}, 4, 8);
  EXPECT_DOUBLE_EQ(law.slowdown, 1);
  EXPECT_DOUBLE_EQ(law.max_over_mean, 1);
  EXPECT_DOUBLE_EQ(law.cv, 0);
  EXPECT_DOUBLE_EQ(law.share_below_2, 0);
  EXPECT_FALSE(law.max_over_min_p50.has_value());
}

TEST(Law, RefusesWhatIsNoCost) {
  EXPECT_THROW(cost_distribution({}), Error);
  EXPECT_THROW(cost_distribution(std::vector<double>{1, -1}), Error);
  EXPECT_THROW(cost_distribution(std::vector<double>{1, std::nan("")}), Error);
  EXPECT_THROW(cost_distribution(std::vector<double>{std::numeric_limits<double>::infinity()}), Error);
  EXPECT_THROW(cost_distribution(std::vector<double>{1}, std::vector<double>{0}), Error);
  EXPECT_THROW(law_of(std::vector<double>{1}, 0, 8), Error);
  EXPECT_THROW(law_of(std::vector<double>{1}, 1, 0), Error);
  EXPECT_THROW(law_of_stream(std::vector<double>{1, 2}, 3, 1), Error);
  EXPECT_THROW(windows_for_slowdown(cost_distribution(std::vector<double>{1}), 8, 1.0), Error);
}

TEST(Law, FewestWindowsForASlowdown) {
  const CostDistribution window = cost_distribution(exponential_costs(5000));
  for (const double target : {1.05, 1.1, 1.5, 2.0}) {
    const std::optional<int64_t> windows = windows_for_slowdown(window, 8, target);
    ASSERT_TRUE(windows.has_value()) << target;
    EXPECT_LE(law_of(window, *windows, 8).slowdown, target);
    ASSERT_GT(*windows, 1);
    EXPECT_GT(law_of(window, *windows - 1, 8).slowdown, target);
  }
  EXPECT_EQ(windows_for_slowdown(window, 8, 3), 1);
  EXPECT_EQ(windows_for_slowdown(window, 8, 1.1, 16), std::nullopt);
  EXPECT_EQ(windows_for_slowdown(window, 1, 1.0001), 1);
}

TEST(Law, TailIndexOfAPareto) {
  std::vector<double> values;
  const int n = 100000;
  for (int i = 0; i < n; ++i) values.push_back(std::pow((i + 0.5) / n, -1 / 1.5));
  EXPECT_NEAR(tail_index(values).value(), 1.5, 0.02);
  EXPECT_EQ(tail_index(std::vector<double>(1000, 2048.0)), std::nullopt);
  EXPECT_EQ(tail_index(std::vector<double>{1, 2, 3}), std::nullopt);
  EXPECT_EQ(tail_index({}), std::nullopt);
}

}  // namespace
}  // namespace counterpoise
