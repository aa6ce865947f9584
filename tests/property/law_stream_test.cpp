// SPDX-License-Identifier: Apache-2.0
// Windows in stream order share documents. The corrected laws against the simulator, which draws a stream of
// its own.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "counterpoise/law_sweep.h"

namespace counterpoise {
namespace {

double area_of(int64_t length, int64_t cp) {
  return double(length) * double(length + 1) / 2 / double(cp);
}

SimulationConfig stream_of_8k() {
  SimulationConfig config;
  config.pack.window = 8192;
  config.window_order = WindowOrder::kStream;
  config.steps = 2000;
  return config;
}

Lengths wlbllm_mix() {
  return read_lengths(std::string(COUNTERPOISE_DATA) + "/lengths/wlbllm_mix.json");
}
bool have_data() {
  return std::filesystem::exists(std::string(COUNTERPOISE_DATA) + "/lengths/wlbllm_mix.json");
}

TEST(LawStream, VarianceOfNeighboursIsPredicted) {
  if (!have_data()) GTEST_SKIP() << "no wlbllm_mix.json under " << COUNTERPOISE_DATA;
  // Variance ratio x CP at CP = 2, 4, 8, 16 of 64 ranks, found by an independent simulation.
  const double published[] = {1, 1.67, 2.7, 4.1, 5.2};
  const Lengths lengths = wlbllm_mix();
  const SimulationConfig config = stream_of_8k();
  const LawSweep laws = law_sweep(lengths, area_of, config);
  SimulationConfig other = config;
  other.seed = 99;
  const SimulationResult simulated = simulate(lengths, area_of, other);
  ASSERT_EQ(laws.rows.size(), 5u);
  for (size_t j = 0; j < laws.rows.size(); ++j) {
    const LawRow& law = laws.rows[j];
    const double times_cp = *law.variance_ratio * double(law.cp);
    EXPECT_NEAR(times_cp / published[j], 1, 0.1) << law.cp;
    EXPECT_NEAR(*law.variance_ratio / simulated.results[j].variance_ratio->value, 1, 0.04) << law.cp;
    EXPECT_NEAR(law.all.variance_ratio, *law.variance_ratio, 1e-9);  // the price does not depend on CP here
    EXPECT_NEAR(*law.fixed_variance_ratio / simulated.results[j].fixed_variance_ratio->value, 1, 0.08)
        << law.cp;
  }
}

TEST(LawStream, MaxAndMinOverGroupsArePredicted) {
  if (!have_data()) GTEST_SKIP() << "no wlbllm_mix.json under " << COUNTERPOISE_DATA;
  const Lengths lengths = wlbllm_mix();
  const SimulationConfig config = stream_of_8k();
  const LawSweep laws = law_sweep(lengths, area_of, config);
  SimulationConfig other = config;
  other.seed = 99;
  const SimulationResult simulated = simulate(lengths, area_of, other);
  for (size_t j = 0; j < laws.rows.size(); ++j) {
    const Law& law = laws.rows[j].all;
    const GroupStatistics& sim = simulated.results[j].all;
    EXPECT_NEAR(law.mean / sim.mean, 1, 0.01) << law.windows;
    EXPECT_NEAR(law.slowdown / *sim.slowdown_step, 1, 0.015) << law.windows;
    EXPECT_NEAR(law.slowdown_micro_batch / *sim.slowdown_micro_batch, 1, 0.015) << law.windows;
    EXPECT_NEAR(law.max_over_mean / *sim.max_over_mean.mean, 1, 0.015) << law.windows;
    EXPECT_NEAR(*law.max_over_min_p50 / *sim.max_over_min.p50, 1, 0.03) << law.windows;
    EXPECT_NEAR(law.share_below_2, *sim.max_over_min.share_below_2, 0.04) << law.windows;
  }
}

TEST(LawStream, ShuffledStreamsObeyTheIndependentLaw) {
  // Both laws of the same independent costs agree: one from the distribution, one from the steps.
  RandomStream random(4);
  std::vector<double> costs(200000);
  for (double& cost : costs) cost = std::exp(0.7 * random.normal());
  for (const int64_t windows : {1, 4}) {
    for (const int64_t groups : {8, 64}) {
      const Law stream = law_of_stream(costs, windows, groups);
      const Law independent = law_of(costs, windows, groups);
      EXPECT_NEAR(stream.slowdown / independent.slowdown, 1, 0.02);
      EXPECT_NEAR(stream.max_over_mean / independent.max_over_mean, 1, 0.02);
      EXPECT_NEAR(stream.share_below_2, independent.share_below_2, 0.02);
      EXPECT_NEAR(*stream.max_over_min_p50 / *independent.max_over_min_p50, 1, 0.03);
      EXPECT_NEAR(stream.variance_ratio / independent.variance_ratio, 1, 0.02);
    }
  }
}

TEST(LawSweep, StandsBesideTheSimulatorUnderAPriceThatDependsOnCp) {
  const Lengths lengths = read_lengths("dist:lognormal(median=2k,sigma=1.1,max=64k)");
  const auto price = [](int64_t length, int64_t cp) {
    return (double(length) * double(length) + 3000.0 * double(length)) / double(cp) * (1 + 0.1 * double(cp));
  };
  for (const Regime regime : {Regime::kFixed, Regime::kGrow}) {
    SimulationConfig config;
    config.pack.window = 16384;
    config.ranks = 32;
    config.cp = {2, 4};
    config.steps = 2000;
    config.regime = regime;
    const LawSweep laws = law_sweep(lengths, price, config);
    config.seed = 5;
    const SimulationResult simulated = simulate(lengths, price, config);
    ASSERT_EQ(laws.rows.size(), 2u);
    for (size_t j = 0; j < 2; ++j) {
      const Law& law = laws.rows[j].all;
      const CpResult& sim = simulated.results[j];
      EXPECT_EQ(laws.rows[j].cp, sim.cp);
      EXPECT_EQ(law.groups, sim.all.groups);
      EXPECT_NEAR(law.mean / sim.all.mean, 1, 0.015);
      EXPECT_NEAR(law.within_step_variance / *sim.all.variance, 1, 0.06);
      EXPECT_NEAR(*laws.rows[j].variance_ratio / sim.variance_ratio->value, 1, 0.06);
      EXPECT_NEAR(*laws.rows[j].cv2_ratio / sim.cv2_ratio->value, 1, 0.06);
      EXPECT_NEAR(law.slowdown / *sim.all.slowdown_step, 1, 0.02);
      EXPECT_NEAR(laws.rows[j].fixed->slowdown / *sim.fixed.slowdown_step, 1, 0.02);
    }
  }
}

}  // namespace
}  // namespace counterpoise
