// SPDX-License-Identifier: Apache-2.0
// The laws of small distributions against every outcome of a step, one after another.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "counterpoise/law.h"
#include "counterpoise/random.h"

namespace counterpoise {
namespace {

// Every way `groups` groups of `windows` windows can turn out.
struct Outcomes {
  double mean = 0, max = 0, max_over_mean = 0, max_over_min = 0, below_2 = 0, within = 0;
  std::vector<std::pair<double, double>> ratios;  // max / min with its probability, ascending

  Outcomes(const CostDistribution& window, int windows, int groups) {
    const size_t draws = static_cast<size_t>(windows) * static_cast<size_t>(groups);
    std::vector<size_t> pick(draws, 0);
    for (bool more = true; more;) {
      add(window, pick, static_cast<size_t>(groups));
      more = false;
      for (size_t i = 0; i < draws && !more; ++i) {
        more = ++pick[i] < window.value.size();
        if (!more) pick[i] = 0;
      }
    }
    std::sort(ratios.begin(), ratios.end());
  }

  void add(const CostDistribution& window, const std::vector<size_t>& pick, size_t groups) {
    std::vector<double> times(groups, 0.0);
    double p = 1;
    for (size_t i = 0; i < pick.size(); ++i) {
      times[i % groups] += window.value[pick[i]] / static_cast<double>(pick.size() / groups);
      p *= window.mass[pick[i]];
    }
    const auto [least, most] = std::minmax_element(times.begin(), times.end());
    double average = 0, squares = 0;
    for (const double time : times) average += time / static_cast<double>(groups);
    for (const double time : times) squares += (time - average) * (time - average);
    const double ratio = *least > 0 ? *most / *least : std::numeric_limits<double>::infinity();
    mean += p * average;
    max += p * *most;
    max_over_mean += p * (average > 0 ? *most / average : 1);
    max_over_min += p * ratio;
    below_2 += ratio < 2 - 1e-9 ? p : 0;
    within += groups > 1 ? p * squares / static_cast<double>(groups - 1) : 0;
    ratios.emplace_back(ratio, p);
  }

  // Whether `ratio` is a q-quantile of max / min: P(< ratio) <= q <= P(<= ratio), to rounding.
  bool is_quantile(double q, double ratio) const {
    double below = 0, up_to = 0;
    for (const auto& [value, p] : ratios) {
      below += value < ratio * (1 - 1e-8) ? p : 0;
      up_to += value <= ratio * (1 + 1e-8) ? p : 0;
    }
    return below <= q + 1e-9 && up_to >= q - 1e-9;
  }
};

void expect_law(const CostDistribution& window, int windows, int groups) {
  const Outcomes all(window, windows, groups);
  const Law law = law_of(window, windows, groups);
  EXPECT_NEAR(law.mean, all.mean, 1e-12 * all.mean);
  EXPECT_NEAR(law.slowdown, all.max / all.mean, 1e-10);
  EXPECT_NEAR(law.max_over_mean, all.max_over_mean, 1e-9);
  EXPECT_NEAR(law.share_below_2, all.below_2, 1e-10);
  if (groups > 1) {
    EXPECT_NEAR(law.within_step_variance / all.within, 1, 1e-10);
  }
  EXPECT_EQ(law.max_over_min_mean.has_value(), std::isfinite(all.max_over_min));
  if (law.max_over_min_mean) {
    EXPECT_NEAR(*law.max_over_min_mean / all.max_over_min, 1, 1e-10);
  }
  const double infinite = std::numeric_limits<double>::infinity();
  EXPECT_TRUE(all.is_quantile(0.5, law.max_over_min_p50.value_or(infinite)))
      << law.max_over_min_p50.value_or(infinite);
  EXPECT_TRUE(all.is_quantile(0.9, law.max_over_min_p90.value_or(infinite)))
      << law.max_over_min_p90.value_or(infinite);
}

TEST(LawExhaustive, EveryOutcomeOfSmallDistributions) {
  constexpr uint64_t kSeed = 7;
  RandomStream random(kSeed);
  for (int trial = 0; trial < 60; ++trial) {
    std::vector<double> values, weights;
    // Whole numbers make ties and ratios of exactly two; a third of the distributions can cost nothing.
    const size_t count = 2 + random.below(2);
    const bool whole = random.below(2) == 0;
    for (size_t i = 0; i < count; ++i) {
      values.push_back(whole ? static_cast<double>(1 + random.below(5)) : 0.1 + 5 * random.uniform());
      weights.push_back(0.05 + random.uniform());
    }
    if (random.below(3) == 0) values[0] = 0;
    const CostDistribution window = cost_distribution(values, weights);
    if (window.value.size() < 2) continue;
    for (const auto& [windows, groups] : {std::pair(1, 1), {1, 2}, {1, 5}, {2, 2}, {2, 3}, {3, 2}}) {
      SCOPED_TRACE("seed " + std::to_string(kSeed) + ", trial " + std::to_string(trial) + ", windows " +
                   std::to_string(windows) + ", groups " + std::to_string(groups));
      expect_law(window, windows, groups);
    }
  }
}

}  // namespace
}  // namespace counterpoise
