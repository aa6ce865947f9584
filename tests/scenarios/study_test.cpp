// SPDX-License-Identifier: Apache-2.0
#include "command.h"
#include "counterpoise/attention.h"

namespace counterpoise {
namespace {

// What the demo says must come out whatever the machine: the verdict on work needs no clock. Times are only
// asked to be there: how near the profile comes depends on how quiet the machine is.
TEST(StudyCommand, DefaultVarianceFollowsOneOverCpSlow) {
  const nlohmann::json json = run_json("study --budget 30s");
  const nlohmann::json& verdict = json["verdict"];
  EXPECT_EQ(verdict["work"]["follows"], "follows") << verdict.dump(1);
  ASSERT_EQ(json["results"].size(), 4u);
  EXPECT_GE(json["work"][3]["max_over_min"]["share_below_2"].get<double>(), 0.99);
  EXPECT_GE(json["wide"]["results"][3]["max_over_min"]["p50"].get<double>(), 2)
      << "a window of 32K is not balanced by CP = 8";
  for (const nlohmann::json& result : json["results"]) {
    const nlohmann::json& measured = result["measured"];
    EXPECT_GT(measured["mean"].get<double>(), 0) << result["cp"];
    EXPECT_GE(measured["steps"], 2);
    EXPECT_EQ(measured["groups"], result["groups"]);
    for (const char* error : {"median_error", "p90_error", "constant_median_error", "squares_median_error"})
      EXPECT_GE(measured["agreement"][error].get<double>(), 0) << error;
  }
}

TEST(StudyCommand, StreamOrderDoesNotFollow) {
  const Outcome outcome =
      run_counterpoise("study preset:wlbllm_mix --window 8k --window-order stream --budget 3s");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.output;
  EXPECT_NE(outcome.output.find("does not follow 1/CP: neighbouring windows share documents"),
            std::string::npos)
      << outcome.output;
}

TEST(StudyCommand, GrowingWindowsDoNotFollow) {
  const Outcome outcome = run_counterpoise("study preset:wikipedia --regime grow --budget 3s");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.output;
  EXPECT_NE(outcome.output.find("does not follow 1/CP: windows grow with CP"), std::string::npos)
      << outcome.output;
}

TEST(StudyCommand, EveryLengthIsLegal) {
  const ScratchFile one("study_one.txt", "1\n"), huge("study_huge.txt", "2000000\n3\n"),
      zeros("study_zeros.txt", "0\n0\n");
  for (const std::string& path : {one.path(), huge.path()})
    for (const char* more : {"", " --pack one_document --ranks 8", " --cp 3,6 --ranks 12"}) {
      const Outcome outcome =
          run_counterpoise("study " + path + " --steps 5 --window 512 --budget 1s" + more);
      EXPECT_EQ(outcome.exit_code, 0) << path << more << "\n" << outcome.output;
    }
  EXPECT_EQ(run_counterpoise("study " + zeros.path() + " --budget 1s").exit_code, 3);
  EXPECT_EQ(run_counterpoise("study --cp 3 --budget 1s").exit_code, 4);
  EXPECT_EQ(run_counterpoise("study --budget soon").exit_code, 2);
}

TEST(StudyCommand, TakesTheProfileOfACalibrationAndSaysWhereItDoesNotFit) {
  const ScratchFile profile("given.json", "");
  const std::string file = profile.path(), calibrate = "calibrate --max-tokens 512 --budget 200ms -o " + file,
                    study = "study preset:wikipedia --window 512 --steps 5 --ranks 8 --budget 1s --profile ";
  ASSERT_EQ(run_counterpoise(calibrate + " --isa portable --forward-only").exit_code, 0);
  const nlohmann::json json = run_json(study + file + " --isa portable");
  EXPECT_TRUE(json["profile"]["given"]) << json["profile"].dump();
  EXPECT_EQ(json["profile"]["isa"], "portable");
  EXPECT_EQ(json["profile"]["hash"], json["config"]["profile"]["hash"]);
  const Outcome again = run_counterpoise(study + file);
  EXPECT_EQ(again.exit_code, 0) << again.output;
  const bool another = available_isas().size() > 1;
  EXPECT_EQ(again.output.find("it was measured with portable, while ") != std::string::npos, another)
      << again.output;

  for (const auto& [options, says] :
       {std::pair{file + " --kernel-heads 2", "of 1 query and 1 kv heads of 64"},
        {file + " --backward", "knows no backward pass"},
        {std::string("h100-fa3"), "prices documents"},
        {std::string("h100-varlen"), "prices another device"}})
    expect_refused(study + options, 2, says);
}

}  // namespace
}  // namespace counterpoise
