// SPDX-License-Identifier: Apache-2.0
#include "counterpoise/simulate.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "counterpoise/error.h"
#include "sim/step_series.h"

namespace counterpoise {
namespace {

double area_share(int64_t length, int64_t cp) {
  return static_cast<double>(length) * static_cast<double>(length + 1) / 2 / static_cast<double>(cp);
}

Lengths corpus(std::vector<int64_t> lengths) {
  Lengths result;
  result.source = "test";
  result.corpus = std::move(lengths);
  return result;
}

SimulationConfig small_config() {
  SimulationConfig config;
  config.ranks = 4;
  config.cp = {1, 2, 4};
  config.steps = 1;
  config.pack.window = 4;
  config.order = DocumentOrder::kCorpus;
  config.window_order = WindowOrder::kStream;
  return config;
}

TEST(Simulate, OneStepByHand) {
  // Windows of 4 tokens: {4}, {1,3}, {2,2}, {1,1,1,1}: areas 10, 7, 6, 4.
  const SimulationResult result = simulate(corpus({4, 1, 3, 2, 2, 1, 1, 1, 1}), area_share, small_config());
  ASSERT_EQ(result.results.size(), 3u);
  const GroupStatistics& one = result.results[0].all;
  EXPECT_EQ(one.groups, 4);
  EXPECT_DOUBLE_EQ(one.mean, 6.75);
  EXPECT_DOUBLE_EQ(*one.variance, (3.25 * 3.25 + .25 * .25 + .75 * .75 + 2.75 * 2.75) / 3);
  EXPECT_DOUBLE_EQ(*one.max_over_min.p50, 2.5);
  EXPECT_DOUBLE_EQ(*one.max_over_min.share_below_2, 0);
  EXPECT_DOUBLE_EQ(*one.slowdown_step, 10 / 6.75);
  const GroupStatistics& two = result.results[1].all;  // groups (10+7)/2 = 8.5 and (6+4)/2 = 5
  EXPECT_DOUBLE_EQ(two.mean, 6.75);
  EXPECT_DOUBLE_EQ(*two.variance, 3.5 * 3.5 / 2);
  EXPECT_DOUBLE_EQ(*two.max_over_min.p50, 1.7);
  EXPECT_DOUBLE_EQ(*two.slowdown_micro_batch, (10.0 / 2 + 7.0 / 2) / 6.75);
  EXPECT_DOUBLE_EQ(*two.wait_share(Sync::kStep), 1 - 6.75 / 8.5);
  EXPECT_FALSE(two.judged());
  const GroupStatistics& four = result.results[2].all;
  EXPECT_EQ(four.groups, 1);
  EXPECT_FALSE(four.variance.has_value());
  EXPECT_FALSE(four.max_over_min.p50.has_value());
  EXPECT_DOUBLE_EQ(*four.slowdown_step, 1);
  EXPECT_EQ(result.results[2].tokens_per_rank, 1);
}

TEST(Simulate, GrowingWindowsKeepLongDocumentsWhole) {
  SimulationConfig config = small_config();
  config.regime = Regime::kGrow;
  config.cp = {1, 2};
  const SimulationResult result = simulate(corpus({8, 2, 2, 2, 2}), area_share, config);
  EXPECT_DOUBLE_EQ(result.results[0].all.mean, (10 + 10 + 6 + 6) / 4.0);
  EXPECT_DOUBLE_EQ(result.results[1].all.mean, (36 + 12) / 2.0 / 2.0);
  EXPECT_EQ(result.results[1].tokens_per_rank, 4);
}

TEST(Simulate, ZeroCostGroupHasNoSpread) {
  SimulationConfig config = small_config();
  config.cp = {1};
  config.pack.policy = PackPolicy::kOneDocument;
  const GroupStatistics all = simulate(corpus({0, 1, 2, 3}), area_share, config).results[0].all;
  EXPECT_FALSE(all.max_over_min.p50.has_value());
  EXPECT_FALSE(all.max_over_min.mean.has_value());
  EXPECT_DOUBLE_EQ(*all.max_over_min.share_below_2, 0);
  EXPECT_DOUBLE_EQ(*all.max_over_mean.p50, 6 / 2.5);
}

// Contiguous shards, ring, one second a pair, free messages. Windows {4}, {2,1,1}: rank 0 has 3 + 3 pairs,
// rank 1 7 + 2 (3 of its own, then 4 with rank 0's keys). Rank 1 starts the second window at 7 and is done at
// 9, not at 10 as with a barrier between windows; rank 0 comes to the end of the second window's first step
// at 6 and waits for keys that rank 1 sends at 7. Windows {2,2}, {1,1,1,1}: 3 + 2 on both ranks.
TEST(Simulate, PlannedStepByHand) {
  SimulationConfig config = small_config();
  config.cp = {1, 2};
  config.planned.emplace();
  config.planned->split.sharder = "contiguous";
  config.planned->split.shape = {1, 1, 1, 1, 4};
  const double fast = std::numeric_limits<double>::infinity();
  config.planned->prices = std::make_shared<LinearPrices>(
      LinearPriceList{.seconds_per_pair = 1, .in_node = {0, fast}, .between_nodes = {0, fast}});
  const SimulationResult result = simulate(corpus({4, 2, 1, 1, 2, 2, 1, 1, 1, 1}), {}, config);
  const CpResult& two = result.results[1];
  EXPECT_DOUBLE_EQ(two.all.mean, (9 + 5) / 2.0);
  EXPECT_DOUBLE_EQ(*two.all.slowdown_step, 9 / 7.0);
  EXPECT_DOUBLE_EQ(two.all.micro_batch_seconds, 7 + 3);
  EXPECT_DOUBLE_EQ(*two.all.slowdown_micro_batch, 10 / ((7 + 3 + 3 + 2) / 2.0));
  EXPECT_DOUBLE_EQ(*two.all.max_over_min.p50, 9 / 5.0);
  EXPECT_DOUBLE_EQ(*two.within->imbalance, (9 + 5) / (7.5 + 5));
  EXPECT_DOUBLE_EQ(*two.within->exposed_comm, 1 / (7.0 + 9 + 5 + 5));
  EXPECT_DOUBLE_EQ(*two.within->uneven_slowdown, (9 + 5) / (7.5 + 5));
  EXPECT_DOUBLE_EQ(*two.within->comm_slowdown, 1);
  EXPECT_DOUBLE_EQ(two.within->compute_mean, (7.5 + 5) / 2);
  EXPECT_DOUBLE_EQ(two.within->sent_mean, 2 * 2 * 8);  // windows x rows x (k and v of one element of 4 bytes)
  EXPECT_EQ(two.within->sent_most, 32);
  EXPECT_EQ(two.tokens_per_rank, 2);
  const CpResult& one = result.results[0];
  EXPECT_DOUBLE_EQ(one.all.mean, (10 + 5 + 6 + 4) / 4.0);
  EXPECT_DOUBLE_EQ(*one.within->imbalance, 1);
  EXPECT_DOUBLE_EQ(*one.within->exposed_comm, 0);
}

// Latency of 5 s: rank 0 has attended to its own keys at 3 s and waits for rank 1's until 5 s; rank 1 goes on
// at 5 s and needs 4 s more. With free messages it would be done at 7 s.
TEST(Simulate, ExposedMessagesSlowAPlannedStep) {
  SimulationConfig config = small_config();
  config.ranks = 2;
  config.cp = {2};
  config.pack.policy = PackPolicy::kOneDocument;
  config.regime = Regime::kGrow;
  config.pack.window = 2;
  config.planned.emplace();
  config.planned->split.sharder = "contiguous";
  config.planned->split.shape = {1, 1, 1, 1, 4};
  config.planned->prices = std::make_shared<LinearPrices>(LinearPriceList{
      .seconds_per_pair = 1, .in_node = {5, std::numeric_limits<double>::infinity()}, .between_nodes = {}});
  const CpResult result = simulate(corpus({4, 4}), {}, config).results[0];
  EXPECT_DOUBLE_EQ(result.all.mean, 9);
  EXPECT_DOUBLE_EQ(*result.within->comm_slowdown, 9 / 7.0);
  EXPECT_DOUBLE_EQ(*result.within->uneven_slowdown, 7 / 5.0);
  EXPECT_DOUBLE_EQ(*result.within->exposed_comm, (2 + 2) / (5.0 + 9));
}

TEST(Simulate, APlannedBaselineNobodyAskedForIsNotBoundByACapOrAnInnerLevel) {
  SimulationConfig config = small_config();
  config.planned.emplace();
  config.planned->split.sharder = "whole_document";
  config.planned->split.scheme = "double_ring";
  config.planned->split.shard_options.token_cap = 3;
  config.planned->split.scheme_options.inner = 2;
  config.planned->prices = std::make_shared<LinearPrices>(
      LinearPriceList{.seconds_per_pair = 1, .in_node = {}, .between_nodes = {}});
  const Lengths lengths = corpus({4, 2, 1, 1, 2, 2, 1, 1, 1, 1});
  config.cp = {2};
  EXPECT_EQ(simulate(lengths, {}, config).results[0].tokens_per_rank, 2);
  config.cp = {1, 2};
  try {
    simulate(lengths, {}, config);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kInfeasible);
  }
}

// The lengths of a run's windows are those that are priced.
TEST(Simulate, WindowLengthsAreThoseOfTheWindowsPriced) {
  Lengths lengths = corpus({});
  for (int64_t i = 0; i < 3000; ++i) lengths.corpus.push_back(i * i % 211);
  for (const DocumentOrder order :
       {DocumentOrder::kSample, DocumentOrder::kShuffle, DocumentOrder::kCorpus}) {
    for (const PackPolicy policy : {PackPolicy::kConcat, PackPolicy::kNextFit, PackPolicy::kBestFitDecreasing,
                                    PackPolicy::kOneDocument}) {
      WindowSource source{lengths, {}, order, 7, 2};
      source.pack.policy = policy;
      source.pack.window = 100;
      const int64_t one = 1;
      const WindowCosts costs = window_costs(source, {&one, 1}, area_share, 5000);
      const WindowLengths found = window_lengths(source, 5000);
      ASSERT_EQ(static_cast<int64_t>(found.windows.size()), costs.windows());
      EXPECT_EQ(found.account.tokens, costs.account.tokens);
      for (size_t w = 0; w < found.windows.size(); ++w) {
        double sum = 0;
        for (const int64_t length : found.windows[w]) sum += area_share(length, 1);
        ASSERT_EQ(sum, costs.values[w]) << w;
      }
    }
  }
}

TEST(Simulate, VarianceFallsAsOneOverCpForIndependentWindows) {
  Lengths lengths;
  lengths.bins = {{1, 4096, 1.0}};
  SimulationConfig config;
  config.steps = 400;
  config.cp = {2, 8};
  config.laws = false;
  int covered = 0, trials = 0;
  for (config.seed = 1; config.seed <= 60; ++config.seed) {
    for (const CpResult& r : simulate(lengths, area_share, config).results) {
      const double expected = 1.0 / static_cast<double>(r.cp);
      covered += r.variance_ratio->low <= expected && expected <= r.variance_ratio->high;
      ++trials;
      EXPECT_NEAR(r.variance_ratio->value, expected, 0.15 * expected);
      EXPECT_NEAR(r.fixed_variance_ratio->value, expected, 0.3 * expected);
      EXPECT_EQ(r.fixed.groups, 8);
    }
  }
  // 95 % intervals over 120 runs: fewer than 105 hits has a probability below 1e-4.
  EXPECT_GE(covered, 105) << "of " << trials;
  EXPECT_LT(covered, trials) << "intervals that never miss are too wide";
}

TEST(Simulate, LawsStandBesideTheNumbersTheyPredict) {
  Lengths lengths;
  lengths.bins = {{1, 4096, 1.0}};
  SimulationConfig config;
  config.steps = 400;
  config.cp = {2, 8};
  // Splitting costs a tenth of the work per rank: the variance of group time no longer falls as 1/CP.
  const auto price = [](int64_t length, int64_t cp) {
    return area_share(length, cp) * (1 + 0.1 * static_cast<double>(cp));
  };
  for (const CpResult& r : simulate(lengths, price, config).results) {
    ASSERT_TRUE(r.law && r.law->fixed) << r.cp;
    const double factor = (1 + 0.1 * static_cast<double>(r.cp)) / 1.1;
    EXPECT_NEAR(*r.law->variance_ratio * static_cast<double>(r.cp), factor * factor, 1e-9);
    EXPECT_NEAR(r.variance_ratio->value / *r.law->variance_ratio, 1, 0.15);
    EXPECT_EQ(r.law->all.groups, r.all.groups);
    EXPECT_EQ(r.law->fixed->groups, 8);
    EXPECT_NEAR(r.law->all.mean / r.all.mean, 1, 1e-9);  // of the same windows
    EXPECT_NEAR(r.law->all.slowdown / *r.all.slowdown_step, 1, 0.02);
    EXPECT_NEAR(r.law->fixed->slowdown / *r.fixed.slowdown_step, 1, 0.02);
  }
  config.laws = false;
  EXPECT_FALSE(simulate(lengths, price, config).results[0].law.has_value());
}

TEST(Simulate, AStepOfVeryManyRanksHasALaw) {
  // More windows in one step than the laws otherwise look at.
  Lengths lengths;
  lengths.bins = {{1, 8, 1.0}};
  SimulationConfig config = small_config();
  config.order = DocumentOrder::kSample;
  config.ranks = 70000;
  config.cp = {7000};
  const SimulationResult result = simulate(lengths, area_share, config);
  ASSERT_TRUE(result.results[0].law.has_value());
  EXPECT_EQ(result.results[0].law->all.groups, 10);
}

TEST(Simulate, SameNumbersForAnyThreadCount) {
  Lengths lengths;
  lengths.bins = {{0, 9000, 1.0}};
  SimulationConfig config;
  config.steps = 300;
  auto variances = [&](int threads) {
    config.threads = threads;
    std::vector<double> values;
    for (const CpResult& r : simulate(lengths, area_share, config).results) values.push_back(*r.all.variance);
    return values;
  };
  EXPECT_EQ(variances(1), variances(5));
}

TEST(Simulate, RepeatingACorpusWidensTheIntervals) {
  std::vector<int64_t> lengths;
  for (int64_t i = 1; i <= 400; ++i) lengths.push_back(i % 97 + 1);
  SimulationConfig config = small_config();
  config.pack.window = 64;
  config.order = DocumentOrder::kShuffle;
  config.steps = 4000;
  const SimulationResult result = simulate(corpus(lengths), area_share, config);
  EXPECT_GT(*result.corpus_passes, 10);
  EXPECT_NEAR(result.distinct_steps, 4000 / *result.corpus_passes, 1e-9);
  config.order = DocumentOrder::kSample;
  const SimulationResult drawn = simulate(corpus(lengths), area_share, config);
  EXPECT_GT(result.results[1].variance_ratio->half_width(),
            2 * drawn.results[1].variance_ratio->half_width());
}

ErrorKind kind_of(const Lengths& lengths, const SimulationConfig& config) {
  try {
    simulate(lengths, area_share, config);
  } catch (const Error& error) {
    return error.kind();
  }
  return static_cast<ErrorKind>(0);
}

TEST(Simulate, RefusesWhatCannotBe) {
  SimulationConfig config = small_config();
  config.cp = {3};
  EXPECT_EQ(kind_of(corpus({4, 4, 4, 4}), config), ErrorKind::kInfeasible);
  config.cp = {2, 1};
  EXPECT_EQ(kind_of(corpus({4, 4, 4, 4}), config), ErrorKind::kUsage);
  config.cp = {2};
  EXPECT_EQ(kind_of(corpus({4, 4, 4}), config), ErrorKind::kBadInput);
  EXPECT_EQ(kind_of(corpus({0, 0, 0}), config), ErrorKind::kBadInput);
  config.pack.long_documents = LongDocuments::kDrop;
  config.order = DocumentOrder::kSample;
  EXPECT_EQ(kind_of(corpus({5, 6, 7}), config), ErrorKind::kBadInput);
  EXPECT_EQ(kind_of(corpus({5, 6, 2}), config), static_cast<ErrorKind>(0));
}

TEST(StepSeries, ARatioOfExactlyTwoIsNotBelowTwo) {
  StepSeries series;
  series.groups = 2;
  series.add_step(std::vector<double>{0.1 + 0.2, 0.6}, 1);  // 0.1 + 0.2 is above 0.3
  series.add_step(std::vector<double>{0.3001, 0.6}, 1);
  EXPECT_DOUBLE_EQ(*statistics(series).max_over_min.share_below_2, 0.5);
}

TEST(StepSeries, StudentQuantiles) {
  EXPECT_NEAR(student_t95(3), 3.182, 1e-3);
  EXPECT_NEAR(student_t95(7), 2.365, 2e-3);
  EXPECT_NEAR(student_t95(39), 2.023, 1e-3);
}

}  // namespace
}  // namespace counterpoise
