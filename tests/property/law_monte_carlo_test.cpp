// SPDX-License-Identifier: Apache-2.0
// The laws against drawing windows independently, on costs cut from real document lengths.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <ctime>
#include <filesystem>

#include "counterpoise/area.h"
#include "counterpoise/law.h"
#include "counterpoise/window_costs.h"

namespace counterpoise {
namespace {

constexpr int64_t kSteps = 100000;
constexpr std::array<int64_t, 5> kCp{1, 2, 4, 8, 16};
constexpr uint64_t kSeed = 20240517;

double area_of(int64_t length, int64_t) {
  return static_cast<double>(length) * double(length + 1) / 2;
}

// Means with their standard errors, from sums over steps.
struct Sampled {
  double max = 0, mean = 0, max2 = 0, mean2 = 0, cross = 0;
  double ratio = 0, ratio2 = 0;
  int64_t below_2 = 0;

  void add(double most, double least, double average) {
    max += most, max2 += most * most;
    mean += average, mean2 += average * average, cross += most * average;
    ratio += most / average, ratio2 += most / average * most / average;
    below_2 += most < 2 * least;
  }
  double slowdown() const { return max / mean; }
  double slowdown_error() const {
    const double s = slowdown();
    return std::sqrt((max2 - 2 * s * cross + s * s * mean2) / kSteps) / (mean / kSteps) / std::sqrt(kSteps);
  }
  double max_over_mean() const { return ratio / kSteps; }
  double max_over_mean_error() const {
    return std::sqrt((ratio2 / kSteps - max_over_mean() * max_over_mean()) / kSteps);
  }
  double share() const { return double(below_2) / kSteps; }
};

// Groups of 16 independent windows; CP = c uses the first c of them, 8 groups the first 8 of 64.
struct MonteCarlo {
  std::array<Sampled, kCp.size()> of_8, of_64;

  explicit MonteCarlo(const std::vector<double>& costs) {
    RandomStream random(kSeed);
    std::array<std::array<double, 64>, kCp.size()> times{};
    for (int64_t step = 0; step < kSteps; ++step) {
      for (size_t g = 0; g < 64; ++g) {
        double sum = 0;
        for (size_t j = 0, drawn = 0; j < kCp.size(); ++j) {
          for (; drawn < static_cast<size_t>(kCp[j]); ++drawn) sum += costs[random.below(costs.size())];
          times[j][g] = sum;
        }
      }
      for (size_t j = 0; j < kCp.size(); ++j) {
        add(of_8[j], std::span(times[j]).first(8));
        add(of_64[j], times[j]);
      }
    }
  }
  static void add(Sampled& sampled, std::span<const double> times) {
    double most = times[0], least = times[0], sum = 0;
    for (const double time : times) most = std::max(most, time), least = std::min(least, time), sum += time;
    sampled.add(most, least, sum / double(times.size()));
  }
};

void expect_agreement(const Law& law, const Sampled& sampled, const std::string& what) {
  constexpr double kSigmas = 4.5;  // of about 200 comparisons none should be beyond
  EXPECT_NEAR(law.slowdown, sampled.slowdown(), kSigmas * sampled.slowdown_error() + 1e-9) << what;
  EXPECT_NEAR(law.slowdown / sampled.slowdown(), 1, 0.01) << what;
  EXPECT_NEAR(law.max_over_mean, sampled.max_over_mean(), kSigmas * sampled.max_over_mean_error() + 1e-9)
      << what;
  EXPECT_NEAR(law.max_over_mean / sampled.max_over_mean(), 1, 0.01) << what;
  const double share_error = std::sqrt(law.share_below_2 * (1 - law.share_below_2) / kSteps);
  EXPECT_NEAR(law.share_below_2, sampled.share(), kSigmas * share_error + 2.0 / kSteps) << what;
  EXPECT_NEAR(law.share_below_2, sampled.share(), 0.01) << what;
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr double kMostSeconds = 10;
#else
constexpr double kMostSeconds = 0.2;
#endif

void expect_laws(const std::vector<double>& costs, const std::string& name) {
  std::printf("%s: seed %llu\n", name.c_str(), static_cast<unsigned long long>(kSeed));
  const MonteCarlo sampled(costs);
  double longest = 0;
  for (size_t j = 0; j < kCp.size(); ++j) {
    for (const int64_t groups : {8, 64}) {
      const std::clock_t begin = std::clock();
      const Law law = law_of(costs, kCp[j], groups);
      longest = std::max(longest, double(std::clock() - begin) / CLOCKS_PER_SEC);
      expect_agreement(law, groups == 8 ? sampled.of_8[j] : sampled.of_64[j],
                       name + ", CP " + std::to_string(kCp[j]) + ", groups " + std::to_string(groups));
    }
  }
  std::printf("  longest law: %.0f ms of CPU time\n", 1e3 * longest);
  EXPECT_LT(longest, kMostSeconds);
}

void expect_laws_of_file(const std::string& name, int64_t window, PackPolicy policy) {
  const std::string path = std::string(COUNTERPOISE_DATA) + "/lengths/" + name;
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "no " << path;
  const Lengths lengths = read_lengths(path);
  WindowSource source{lengths, {}, DocumentOrder::kSample, kSeed, 0};
  source.pack.window = window;
  source.pack.policy = policy;
  const std::vector<int64_t> cp{1};
  expect_laws(window_costs(source, cp, area_of, 100000).column(0), name);
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

TEST(LawMonteCarloSlow, Lognormal) {
  for (const double sigma : {0.5, 1.5}) {
    RandomStream random(kSeed, 1);
    std::vector<double> costs(200000);
    for (double& cost : costs) cost = std::exp(sigma * random.normal());
    expect_laws(costs, "lognormal, sigma " + std::to_string(sigma));
  }
}

}  // namespace
}  // namespace counterpoise
