// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "counterpoise/error.h"
#include "exec/plan_calls.h"
#include "exec/validation_trials.h"
#include "report/validation_report.h"

namespace counterpoise {
namespace {

ValidationPart part_with(double median, std::optional<double> noise) {
  ValidationPart part;
  part.name = fmt::format("{} with {}", median, noise.value_or(0));
  part.test = {10, median, median, median};
  part.most_median = 0.05;
  part.noise = noise;
  return part;
}

TEST(ValidationVerdict, NoiseExcusesOnlyWhatItMayExplain) {
  EXPECT_TRUE(part_with(0.04, 0.5).passed());
  EXPECT_FALSE(part_with(0.04, 0.5).inconclusive());
  EXPECT_FALSE(part_with(0.06, 0.02).inconclusive());
  EXPECT_TRUE(part_with(0.06, 0.03).inconclusive());
  EXPECT_FALSE(part_with(0.06, std::nullopt).inconclusive());  // a published table has no excuse
  const std::vector<ValidationPart> parts = {part_with(0.04, 0.5), part_with(0.06, 0.02),
                                             part_with(0.06, 0.03)};
  EXPECT_EQ(failed_parts(parts), std::vector<std::string>{parts[1].name});
  EXPECT_EQ(inconclusive_parts(parts), std::vector<std::string>{parts[2].name});
  EXPECT_NE(validation_text(parts).find("inconclusive: noise 3.0 %"), std::string::npos);
}

TEST(ValidationReport, SaysWhatWasFoundAndWhatOthersPredict) {
  std::vector<ValidationPart> parts = {part_with(0.04, {}), part_with(0.03, {}), part_with(0.06, {}),
                                       part_with(0.02, {})};
  parts[0].naive = {{"constant", {10, 0.3, 0.4, 0.5}}, {"sum L^2", {10, 0.2, 0.25, 0.5}}};
  parts[1].naive = {{"constant", {10, 0.1, 0.2, 0.5}}, {"interpolation", {10, 0.07, 0.08, 0.5}}};
  for (size_t i = 1; i < 4; ++i) parts[i].summarised = i > 1;
  for (ValidationPart& part : parts) part.split = "split of " + part.name;
  const std::string text = validation_text(parts);
  EXPECT_EQ(text.find("Found  3 of 4 parts hold their thresholds; above them: 0.06 with 0\n"), 0u) << text;
  EXPECT_NE(text.find("4.0 % / 4.0 %  30.0 % / 40.0 %  20.0 % / 25.0 %              -"), std::string::npos)
      << text;
  EXPECT_NE(text.find("3.0 % / 3.0 %  10.0 % / 20.0 %                -  7.0 % / 8.0 %"), std::string::npos)
      << text;
  EXPECT_NE(text.find("split of 0.04"), std::string::npos);
  EXPECT_NE(text.find("split of 0.06"), std::string::npos) << "summarised, but failed";
  EXPECT_EQ(text.find("split of 0.02"), std::string::npos) << "summarised";
}

Trial trial_of(double half, double other, double predicted) {
  Trial trial;
  trial.label = "trial";
  trial.naive = {1, 1, 1, 0};
  trial.predicted = predicted;
  trial.add({half, {half, other}, 4});
  return trial;
}

TEST(ValidationTrials, NoiseIsWhatHalvesOfTheRunsDisagreeBy) {
  std::vector<Trial> trials = {trial_of(1, 1.1, 1), trial_of(2, 2, 2), trial_of(1, 1.2, 1)};
  EXPECT_NEAR(repeat_noise(trials), 0.1, 1e-12);  // the middle one of 0, 0.1 and 0.2
  ValidationPart part = compare_trials("part", "split", trials);
  EXPECT_NEAR(part.test.worst, 0, 1e-12);
  EXPECT_NEAR(*part.noise, 0.1, 1e-12);
  add_drift(part, -0.3);
  EXPECT_NEAR(*part.noise, 0.3, 1e-12);
}

TEST(ValidationTrials, CallsOfAGroupAddUp) {
  Trial group = trial_of(1, 1.1, 3);
  group.add({2, {2.2, 2}, 2});
  EXPECT_EQ(group.measured.seconds, 3);
  EXPECT_DOUBLE_EQ(group.measured.halves[0], 3.2);
  EXPECT_DOUBLE_EQ(group.measured.halves[1], 3.1);
}

// Every unmasked pair of the window is in the calls of exactly one rank, whatever the sharder and the scheme.
TEST(PlanCalls, CoverTheWindowOnce) {
  const HeadShape heads{4, 2, 64, 0, 0};
  const std::vector<int64_t> documents = {300, 1, 77, 130};
  int64_t whole = 0;
  for (const int64_t length : documents) whole += heads.heads * length * (length + 1) / 2;
  for (const SharderInfo& sharder : sharders())
    for (const SchemeInfo& scheme : schemes()) {
      const StepPlan plan = window_plan(sharder.name, scheme.name, 4, documents, heads);
      int64_t pairs = 0;
      for (int32_t rank = 0; rank < 4; ++rank)
        for (const std::vector<WorkShape>& call : attend_shapes(plan, rank)) {
          EXPECT_FALSE(call.empty());
          for (const WorkShape& work : call) {
            pairs += work.area * work.shape.heads;
            EXPECT_LE(work.new_kv_rows, work.kv_rows);
          }
        }
      EXPECT_EQ(pairs, whole) << sharder.name << " x " << scheme.name;
    }
}

}  // namespace
}  // namespace counterpoise
