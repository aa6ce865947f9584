// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "study/agreement.h"
#include "study/variants.h"
#include "study/verdict.h"

namespace counterpoise {
namespace {

Estimate around(double value, double half) {
  return {value, value - half, value + half};
}

TEST(Verdict, IntervalDecides) {
  EXPECT_EQ(judge_ratio(around(0.13, 0.02), 8), Follows::kYes);
  EXPECT_EQ(judge_ratio(around(0.13, 0.05), 8), Follows::kInconclusive);  // wider than 30 %
  EXPECT_EQ(judge_ratio(around(0.60, 0.50), 2), Follows::kInconclusive);  // does not exclude "no reduction"
  EXPECT_EQ(judge_ratio(around(0.10, 0.01), 8), Follows::kFaster);
  EXPECT_EQ(judge_ratio(around(0.135, 0.001), 8), Follows::kClose);
  EXPECT_EQ(judge_ratio(around(0.145, 0.01), 8), Follows::kNo);
  // Judged beside two others, the same interval has to miss by more.
  EXPECT_EQ(judge_ratio(around(0.1355, 0.01), 8, 3), Follows::kYes);
}

TEST(Verdict, LeastFavourableDegreeSpeaks) {
  const Judgement yes = judge({{1, around(1, 0)}, {2, around(0.5, 0.05)}, {4, around(0.25, 0.03)}}, 100, {});
  EXPECT_EQ(yes.follows, Follows::kYes);
  EXPECT_EQ(yes.cp, 4);
  const Judgement wide = judge({{2, around(0.5, 0.05)}, {4, around(0.25, 0.15)}}, 100, {});
  EXPECT_EQ(wide.follows, Follows::kInconclusive);
  EXPECT_EQ(wide.cp, 4);
  EXPECT_NEAR(static_cast<double>(*wide.needed_steps), 400,
              1);  // twice as wide as 30 % of 1/4: four times the steps
  const Judgement none = judge({{1, around(1, 0)}, {2, std::nullopt}}, 3, {});
  EXPECT_FALSE(none.ratio.has_value());
}

TEST(Verdict, SaysWhy) {
  Suspects suspects;
  suspects.neighbour_correlation = 0.6;
  EXPECT_NE(judge({{2, around(0.8, 0.01)}}, 10, suspects).reason.find("neighbouring windows share documents"),
            std::string::npos);
  suspects.growing_windows = true;
  EXPECT_NE(judge({{2, around(3, 0.01)}}, 10, suspects).reason.find("windows grow with CP"),
            std::string::npos);
  Suspects heavy;
  heavy.tail_index = 1.2;
  EXPECT_NE(judge({{2, around(0.8, 0.01)}}, 10, heavy).reason.find("heavy"), std::string::npos);
}

CpResult result_at(int64_t cp, int64_t groups, double spread, double step_seconds) {
  CpResult result;
  result.cp = cp;
  result.all.groups = groups;
  result.all.max_over_min.p50 = spread;
  result.all.step_seconds = step_seconds;
  result.all.mean = step_seconds / 2;
  return result;
}

TEST(Verdict, BelowTwoMustLast) {
  EXPECT_EQ(below_two_from({result_at(1, 32, 3, 1), result_at(2, 16, 1.9, 1), result_at(4, 8, 1.5, 1)}), 2);
  EXPECT_EQ(below_two_from({result_at(1, 32, 1.5, 1), result_at(2, 16, 2.0, 1), result_at(4, 8, 1.5, 1)}), 4);
  EXPECT_EQ(below_two_from({result_at(4, 8, 2.5, 1), result_at(16, 2, 1.1, 1)}),
            std::nullopt);  // two groups are not judged
}

TEST(Verdict, TiesGoToTheSmallerCp) {
  SimulationResult result;
  result.results = {result_at(1, 32, 3, 1.0), result_at(2, 16, 2, 0.900), result_at(4, 8, 2, 0.899),
                    result_at(8, 4, 2, 0.95)};
  EXPECT_EQ(choose_cp(result, Sync::kStep), 2);
  EXPECT_NEAR(efficiency_cost(result)[3], -0.05, 1e-12);
}

TEST(Agreement, ComparesGroupsNotWindows) {
  MeasuredCp one{1, 1, 2, 2, {{1.0, 2.0}}, {{1.1, 1.9}}, {{10, 20}}, {}, {}, {}};
  MeasuredCp two{2, 2, 1, 1, {{0.5, 1.0}}, {{0.7, 0.8}}, {{5, 20}}, {}, {}, {}};
  const std::vector<Agreement> a = agreement({one, two});
  EXPECT_NEAR(a[0].p90_error, 0.1, 1e-12);
  EXPECT_NEAR(*a[0].r2, 1 - 0.02 / 0.5, 1e-12);
  EXPECT_NEAR(a[1].median_error, 0.0, 1e-12);  // errors of the two windows cancel in the group
  EXPECT_NEAR(a[0].squares_error, 0.0, 1e-12);
  EXPECT_NEAR(a[1].squares_error, 2.5 / 1.5 - 1, 1e-12);
  EXPECT_NEAR(a[0].constant_error, 0.5, 1e-12);
  EXPECT_FALSE(a[0].r2_limit);  // nothing was repeated
}

TEST(Agreement, NoiseLimitsWhatAnyPredictionReaches) {
  MeasuredCp one{1, 1, 2, 2, {{1.0, 3.0}}, {{1.0, 3.0}}, {{1, 3}}, {}, {}, {}};
  one.repeat_noise = 0.0954;  // of a mean of 2: a standard deviation of 0.2, beside one of 1
  const std::vector<Agreement> a = agreement({one});
  EXPECT_NEAR(*a[0].r2, 1, 1e-12);
  EXPECT_NEAR(*a[0].r2_limit, 1 - 0.04, 1e-12);
  one.repeat_noise = 1;
  EXPECT_EQ(*agreement({one})[0].r2_limit, 0);
}

TEST(Variants, TailIsCutAtTheQuantile) {
  Lengths corpus;
  corpus.source = "test";
  for (int64_t i = 1; i <= 1000; ++i) corpus.corpus.push_back(i);
  const Lengths kept = without_tail(corpus, 0.99);
  EXPECT_EQ(kept.corpus.size(), 990u);
  EXPECT_EQ(kept.corpus.back(), 990);
  Lengths bins;
  bins.source = "test";
  bins.bins = {{1, 100, 50}, {101, 200, 50}};
  double weight = 0;
  for (const LengthBin& bin : without_tail(bins, 0.9).bins) weight += bin.weight;
  EXPECT_NEAR(weight, 90, 1);
}

}  // namespace
}  // namespace counterpoise
