// SPDX-License-Identifier: Apache-2.0
// Drawn steps, by which the laws are judged: checked by hand, without a law.
#include <gtest/gtest.h>

#include <cmath>

#include "counterpoise/error.h"
#include "counterpoise/validate_laws.h"
#include "sim/law_monte_carlo.h"

namespace counterpoise {
namespace {

constexpr int64_t kSteps = 100000;

std::vector<SampledSteps> draw(const std::vector<double>& costs, int threads = 1) {
  const std::vector<int64_t> windows{1, 2}, groups{2, 3};
  return sample_steps(costs, windows, groups, kSteps, 11, threads);
}

void expect_mean(const SampledMean& drawn, double value, double deviation) {
  EXPECT_NEAR(drawn.value, value, 4.5 * deviation / std::sqrt(double(kSteps)));
  EXPECT_NEAR(drawn.standard_error, deviation / std::sqrt(double(kSteps)),
              0.02 * deviation / std::sqrt(double(kSteps)));
}

TEST(LawDraw, TwoCostsByHand) {
  // 1 or 3 with equal chance in two groups: (1, 1), (1, 3), (3, 1), (3, 3).
  const SampledSteps pair = draw({1, 3})[0];
  EXPECT_EQ(pair.windows, 1);
  EXPECT_EQ(pair.groups, 2);
  expect_mean(pair.max_over_mean, 1.25, 0.25);              // 1 or 1.5
  expect_mean(pair.share_below_2, 0.5, 0.5);                // ratio 1 or 3
  expect_mean(*pair.max_over_min_mean, 2, 1);               // the same
  expect_mean(pair.within_step_variance, 1, 1);             // 0 or 2
  expect_mean(pair.slowdown, 2.5 / 2, std::sqrt(4.5) / 8);  // max - 1.25 mean: -1/4, 1/2, 1/2, -3/4
  EXPECT_EQ(pair.max_over_min.front(), 1);
  EXPECT_EQ(pair.max_over_min.back(), 3);
  EXPECT_EQ(pair.max_over_min.size(), size_t{kSteps});
}

TEST(LawDraw, WindowsOfAGroupAreAveraged) {
  const std::vector<SampledSteps> drawn = draw({1, 3});
  EXPECT_EQ(drawn[2].windows, 2);
  EXPECT_EQ(drawn[2].groups, 2);
  EXPECT_EQ(drawn[3].groups, 3);
  // The mean of two is 1, 2, 3 with chances 1, 2, 1 of four; (2, 1) has a ratio of exactly two.
  EXPECT_NEAR(drawn[2].share_below_2.value, (1 + 4 + 1 + 4) / 16.0, 0.01);
  EXPECT_NEAR(drawn[2].within_step_variance.value, 0.5, 0.01);
  EXPECT_NEAR(drawn[3].within_step_variance.value, 0.5, 0.01);
}

TEST(LawDraw, ARatioOfExactlyTwoIsNotBelowTwo) {
  for (const double unit : {0.1, 1.0 / 3, 1e-9})
    EXPECT_NEAR(draw({unit, unit + unit})[0].share_below_2.value, 0.5, 0.01) << unit;
}

TEST(LawDraw, GroupsWithoutCost) {
  const SampledSteps some = draw({0, 1})[0];
  EXPECT_FALSE(some.max_over_min_mean.has_value());
  EXPECT_TRUE(std::isinf(some.max_over_min.back()));
  EXPECT_NEAR(some.share_below_2.value, 0.25, 0.01);
  EXPECT_NEAR(some.max_over_mean.value, 1.5, 0.01);  // no cost at all counts as 1
  const SampledSteps none = draw({0})[0];
  EXPECT_EQ(none.slowdown.value, 1);
  EXPECT_EQ(none.max_over_mean.value, 1);
  EXPECT_EQ(none.share_below_2.value, 0);
}

TEST(LawDraw, SameNumbersForAnyThreadCount) {
  const std::vector<SampledSteps> one = draw({1, 2, 7}), three = draw({1, 2, 7}, 3);
  for (size_t i = 0; i < one.size(); ++i) {
    EXPECT_EQ(one[i].slowdown.value, three[i].slowdown.value);
    EXPECT_EQ(one[i].within_step_variance.standard_error, three[i].within_step_variance.standard_error);
    EXPECT_EQ(one[i].max_over_min, three[i].max_over_min);
  }
}

TEST(LawDraw, APartPassesWithinItsBounds) {
  ValidationPart part;
  part.test = {3, 0.001, 0.002, 0.02};
  EXPECT_TRUE(part.passed());
  part.most_worst = 0.01;
  EXPECT_FALSE(part.passed());
  part.test.worst = 0.009;
  EXPECT_TRUE(part.passed());
  part.most_deviation = 4.5;
  EXPECT_TRUE(part.passed());
  part.worst_deviation = 4.6;
  EXPECT_FALSE(part.passed());
  EXPECT_DOUBLE_EQ(part.error_of({"", 0.5, 0.25}), 0.5);
  part.differences = true;
  EXPECT_DOUBLE_EQ(part.error_of({"", 0.5, 0.25}), 0.25);
}

TEST(LawDraw, TooFewStepsAreRefused) {
  LawValidation options;
  options.steps = 999;
  EXPECT_THROW(validate_laws(options), Error);
}

}  // namespace
}  // namespace counterpoise
