// SPDX-License-Identifier: Apache-2.0
// The laws against drawing windows independently, on costs cut from real document lengths.
#include "sim/law_monte_carlo.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "counterpoise/law.h"
#include "counterpoise/random.h"
#include "counterpoise/validate_laws.h"

namespace counterpoise {
namespace {

constexpr uint64_t kSeed = 20240517;
constexpr double kSigmas = 4.5;  // of some hundred comparisons none should be beyond

void expect_laws_of_file(const std::string& name, int64_t window, PackPolicy policy) {
  LawValidation options;
  options.lengths = std::string(COUNTERPOISE_DATA) + "/lengths/" + name;
  if (!std::filesystem::exists(options.lengths)) GTEST_SKIP() << "no " << options.lengths;
  options.pack.window = window;
  options.pack.policy = policy;
  options.seed = kSeed;
  std::printf("%s: seed %llu\n", name.c_str(), static_cast<unsigned long long>(kSeed));
  const std::vector<ValidationPart> parts = validate_laws(options);
  ASSERT_EQ(parts.size(), 7u);
  for (const ValidationPart& part : parts) {
    SCOPED_TRACE(name + ": " + part.name);
    EXPECT_EQ(part.unavailable, "");
    EXPECT_GE(part.test.rows, part.name == "law, variance in stream order" ? 4 : 10);
    EXPECT_TRUE(part.passed());
    // What "passed" stands for.
    EXPECT_LE(part.worst_deviation.value_or(0), kSigmas);
  }
  for (size_t i = 0; i < 3; ++i) EXPECT_LE(parts[i].test.worst, 0.01) << name << ": " << parts[i].name;
  EXPECT_LE(parts.back().test.worst, 0.10) << name;
}

TEST(LawMonteCarloSlow, WlbllmMix) {
  expect_laws_of_file("wlbllm_mix.json", 32768, PackPolicy::kConcat);
}
TEST(LawMonteCarloSlow, Wikipedia) {
  expect_laws_of_file("wikipedia_400k.txt", 32768, PackPolicy::kConcat);
}
TEST(LawMonteCarloSlow, MagiHistogram) {
  expect_laws_of_file("magi_histogram.csv", 65536, PackPolicy::kBestFitDecreasing);
}
TEST(LawMonteCarloSlow, MooncakeConversation) {
  expect_laws_of_file("mooncake_conversation.jsonl", 131072, PackPolicy::kNextFit);
}
TEST(LawMonteCarloSlow, AzureConversation) {
  expect_laws_of_file("azure_conv_2023.csv", 8192, PackPolicy::kOneDocument);
}
TEST(LawMonteCarloSlow, OpenchatSft) {
  expect_laws_of_file("openchat_sft.json", 4096, PackPolicy::kConcat);
}

void expect_agreement(const Law& law, const SampledSteps& drawn) {
  const auto near = [](double value, const SampledMean& mean, double own_error) {
    EXPECT_NEAR(value, mean.value, kSigmas * mean.standard_error + own_error * value);
  };
  near(law.slowdown, drawn.slowdown, 2e-4);
  near(law.max_over_mean, drawn.max_over_mean, 2e-4);
  near(law.within_step_variance, drawn.within_step_variance, 1e-9);
  near(*law.max_over_min_mean, *drawn.max_over_min_mean, 2e-3);
  const double n = static_cast<double>(drawn.steps);
  EXPECT_NEAR(law.share_below_2, drawn.share_below_2.value,
              kSigmas * std::sqrt(law.share_below_2 * (1 - law.share_below_2) / n) + 2 / n);
}

TEST(LawMonteCarloSlow, Lognormal) {
  const std::vector<int64_t> windows{1, 2, 4, 8, 16}, groups{8, 64};
  for (const double sigma : {0.5, 1.5}) {
    RandomStream random(kSeed, 1);
    std::vector<double> costs(200000);
    for (double& cost : costs) cost = std::exp(sigma * random.normal());
    for (const SampledSteps& drawn : sample_steps(costs, windows, groups, 100000, kSeed)) {
      SCOPED_TRACE("sigma " + std::to_string(sigma) + ", CP " + std::to_string(drawn.windows) + ", groups " +
                   std::to_string(drawn.groups));
      expect_agreement(law_of(costs, drawn.windows, drawn.groups), drawn);
    }
  }
}

}  // namespace
}  // namespace counterpoise
