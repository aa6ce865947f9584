// SPDX-License-Identifier: Apache-2.0
// The verb as a user runs it: sentences, JSON, exit codes.
#include "command.h"
#include "counterpoise/law.h"

namespace counterpoise {
namespace {

Outcome run_law(const std::string& arguments) {
  return run_counterpoise("law " + arguments);
}

bool says(const Outcome& outcome, const std::string& text) {
  return outcome.output.find(text) != std::string::npos;
}

// Two lengths, one document a window: the cost is 1 or 3 times a(a + 1) / 2 with equal chance, a = 1 here.
const std::string kTwoCosts =
    "--lengths 'dist:mixture(0.5*constant(1)+0.5*constant(2))' --pack one_document "
    "--profile area --window 8 --windows 64k ";

TEST(LawVerb, JsonHoldsTheLaw) {
  const Outcome outcome = run_law(kTwoCosts + "--ranks 8 --cp 1,2,8 --json -");
  ASSERT_EQ(outcome.exit_code, 0) << outcome.output;
  const auto json = nlohmann::json::parse(outcome.output);
  EXPECT_EQ(json["schema"], "counterpoise/law");
  EXPECT_EQ(json["config"]["windows"], 65536);
  ASSERT_EQ(json["results"].size(), 3u);
  const auto& first = json["results"][0];
  EXPECT_EQ(first["groups"], 8);
  // The share of 3s is near a half; everything else follows from it.
  const double mean = first["mean"], p = (mean - 1) / 2;
  EXPECT_NEAR(p, 0.5, 0.01);
  const Law law = law_of(cost_distribution(std::vector<double>{1, 3}, std::vector<double>{1 - p, p}), 2, 4);
  const auto& second = json["results"][1];
  EXPECT_NEAR(second["slowdown"], law.slowdown, 1e-9);
  EXPECT_NEAR(second["max_over_mean"]["mean"], law.max_over_mean, 1e-9);
  EXPECT_NEAR(second["max_over_min"]["mean"], *law.max_over_min_mean, 1e-9);
  EXPECT_NEAR(second["max_over_min"]["share_below_2"], law.share_below_2, 1e-9);
  EXPECT_NEAR(second["slowdown_micro_batch"], law.slowdown_micro_batch, 1e-9);
  EXPECT_NEAR(second["gaussian_slowdown"], law.gaussian_slowdown, 1e-9);
  EXPECT_NEAR(second["variance_ratio"], 0.5, 1e-9);
  EXPECT_TRUE(json["results"][2]["variance_ratio"].is_null());  // one group
  EXPECT_EQ(json["answers"]["slowdown"]["needs"].size(), 2u);   // 8 (the ranks) and 64 groups
  EXPECT_EQ(json["answers"]["slowdown"]["cp"], 8);
  EXPECT_TRUE(json["answers"]["share_below_2"]["cp"].is_null());
  EXPECT_GE(json["sentences"].size(), 3u);
}

TEST(LawVerb, AnswersWhichCpReachesTheTarget) {
  const Outcome reached = run_law(kTwoCosts + "--ranks 64 --cp 1,2,4,8,16 --target 1.3");
  ASSERT_EQ(reached.exit_code, 0);
  EXPECT_TRUE(says(reached, "Slowdown is 1.3 or less from CP = 8 on: 1.2")) << reached.output;
  EXPECT_TRUE(says(reached, "From CP = 16 on the slowest group takes less than twice")) << reached.output;
  EXPECT_TRUE(says(reached, "If groups meet after every window")) << reached.output;
  const Outcome missed = run_law(kTwoCosts + "--ranks 64 --cp 1,2 --target 1.01");
  EXPECT_TRUE(says(missed, "No CP of the list keeps slowdown at 1.01 or less")) << missed.output;
  EXPECT_TRUE(says(missed, "No CP of the list keeps max/min below two in 95 %")) << missed.output;
  EXPECT_TRUE(says(missed, "slowdown 1.01 takes: ")) << missed.output;
}

TEST(LawVerb, SaysWhyVarianceMayMislead) {
  const Outcome heavy = run_law("--lengths 'dist:pareto(min=512,alpha=1.2,max=512k)' --windows 8k");
  EXPECT_TRUE(says(heavy, "The tail index of length^2 is about")) << heavy.output;
  EXPECT_FALSE(says(run_law("--lengths 'dist:constant(4k)' --windows 8k"), "tail index"));
  const Outcome stream =
      run_law("--lengths preset:wlbllm_mix --window 4k --windows 32k --window-order stream");
  EXPECT_TRUE(says(stream, "neighbours share documents: 16 of them average like")) << stream.output;
}

TEST(LawVerb, SameNumbersForAnyThreadCount) {
  const std::string arguments = "--lengths preset:wlbllm_mix --windows 16k --json - ";
  const std::string one = run_law(arguments + "--threads 1").output;
  EXPECT_EQ(one, run_law(arguments + "--threads 3").output);
  EXPECT_EQ(one, run_law(arguments + "--threads 1").output);
}

TEST(LawVerb, ExitCodesTellWhoseFaultItIs) {
  EXPECT_EQ(run_law("--lengths preset:wlbllm_mix --cp 3").exit_code, 4);
  EXPECT_TRUE(says(run_law("--lengths preset:wlbllm_mix --cp 3"), "1, 2, 4, 8, 16, 32, 64"));
  EXPECT_EQ(run_law("--lengths preset:wlbllm_mix --target 1").exit_code, 2);
  EXPECT_EQ(run_law("--lengths preset:wlbllm_mix --windows 0").exit_code, 2);
  EXPECT_EQ(run_law("--lengths /nowhere/lengths.txt").exit_code, 3);
  EXPECT_EQ(run_law("--lengths 'dist:constant(0)'").exit_code, 3);
  const Outcome few = run_law("--lengths preset:wlbllm_mix --ranks 64 --windows 32");
  EXPECT_EQ(few.exit_code, 3);
  EXPECT_TRUE(says(few, "one step of 64 ranks takes 64")) << few.output;
}

// Each of these would cut documents for hours, or ask for memory that no machine has.
TEST(LawVerb, WindowsThatNobodyCanPriceAreRefusedWithWhatIsPossible) {
  const Outcome wide = run_law("preset:wlbllm_mix --window 4000G");
  EXPECT_EQ(wide.exit_code, 2) << wide.output;
  EXPECT_TRUE(says(wide, "--window 4294967296000: ")) << wide.output;
  EXPECT_TRUE(says(wide, "tokens is possible")) << wide.output;
  const Outcome many = run_law("preset:wlbllm_mix --windows 1000G");
  EXPECT_EQ(many.exit_code, 2) << many.output;
  EXPECT_TRUE(says(many, "--windows: 1073741824000; from 1 to 16777216 are possible")) << many.output;
  EXPECT_EQ(run_law("preset:wlbllm_mix --windows 0").exit_code, 2);
  EXPECT_EQ(run_law("preset:wlbllm_mix --target inf").exit_code, 2);
}

TEST(LawVerb, AnOutputThatCannotBeWrittenIsRefusedBeforeTheWork) {
  for (const std::string path : {"/nonexistent/law.json", "/tmp"}) {
    const Outcome outcome = run_law(kTwoCosts + "--json " + path);
    EXPECT_EQ(outcome.exit_code, 3) << outcome.output;
    EXPECT_EQ(outcome.output.find("counterpoise: " + path + ": cannot write: "), 0u) << outcome.output;
  }
}

}  // namespace
}  // namespace counterpoise
