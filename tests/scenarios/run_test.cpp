// SPDX-License-Identifier: Apache-2.0
#include "command.h"

namespace counterpoise {
namespace {

const std::string kSource =
    "run 'dist:lognormal(median=100,sigma=1,max=600)' --heads 2 --head-dim 32 --gradient 64k ";

TEST(ScenarioRun, ThreadsByDefaultAndEveryResultIsChecked) {
  const Outcome outcome = run_counterpoise(kSource + "--window 256 --dp 2 --cp 2 --steps 2 --backward");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.output;
  for (const char* text : {"2 steps of 2 groups x CP 2 over threads", "zigzag x ring", "slowdown",
                           "simulated", "Results against the single-rank result", "dv   largest error"}) {
    EXPECT_NE(outcome.output.find(text), std::string::npos) << text << "\n" << outcome.output;
  }
}

TEST(ScenarioRun, TheOracleAgreesForEverySharderAndScheme) {
  for (const std::string shard : {"contiguous", "striped", "per_document_zigzag", "whole_document"}) {
    for (const std::string scheme : {"all_gather", "direct", "attention_server"}) {
      const auto json = run_json(
          kSource + "--window 200 --dp 1 --cp 3 --windows 1 --steps 1 --backward --check oracle --shard " +
          shard + " --scheme " + scheme);
      EXPECT_TRUE(json["check"]["ok"]) << shard << " " << scheme;
      EXPECT_EQ(json["check"]["against"], "oracle");
      EXPECT_EQ(json["per_rank"].size(), 3u);
    }
  }
}

// A rank that computes some of the heads has memory for those only: long windows show a read beyond them.
TEST(ScenarioRun, HeadExchangeOnLongWindows) {
  for (const std::string transport : {"", " --messages"}) {
    const Outcome outcome = run_counterpoise(
        "run 'dist:constant(length=4096)' --window 4096 --windows 1 --dp 1 --cp 4 --steps 1 --heads 8 "
        "--head-dim 32 --backward --scheme all_to_all --gradient 0" +
        transport);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.output;
  }
}

TEST(ScenarioRun, OneRankIsLegal) {
  const auto json = run_json(kSource + "--window 256 --dp 1 --cp 1 --steps 1");
  EXPECT_EQ(json["schema"], "counterpoise/run");
  EXPECT_EQ(json["slowdown"], 1.0);
  EXPECT_TRUE(json["spread_median"].is_null());
  EXPECT_EQ(json["check"]["tensors"].size(), 2u);
}

TEST(ScenarioRun, WrongOptionsSayWhatIsRight) {
  const auto expect = [](const std::string& options, int exit_code, const std::string& text) {
    expect_refused(kSource + options, exit_code, text);
  };
  expect("--mask window:0", 2, "window:SIZE with SIZE >= 1");
  expect("--check maybe", 2, "single, oracle or none");
  expect("--kv-heads 3", 2, "must divide --heads 2");
  expect("--scheme smoke_signals", 2, "smoke_signals");
  expect("--shard none", 2, "none");
  expect("--cp 0", 2, "between 1 and");
  expect("--timeout 0", 2, "above 0");
}

TEST(ScenarioRun, TooFewWindowsIsBadInput) {
  const ScratchFile file("three.txt", "100\n100\n100\n");
  const Outcome outcome =
      run_counterpoise("run " + file.path() + " --order corpus --window 128 --dp 4 --cp 2");
  EXPECT_EQ(outcome.exit_code, 3) << outcome.output;
  EXPECT_NE(outcome.output.find("not enough for one step of 4 groups x 2 windows"), std::string::npos)
      << outcome.output;
}

}  // namespace
}  // namespace counterpoise
