// SPDX-License-Identifier: Apache-2.0
#include "command.h"

namespace counterpoise {
namespace {

const std::string kLaws = "validate --only laws --steps 20000 --lengths preset:wlbllm_mix ";

TEST(ValidateLaws, EveryQuantityIsComparedWithDraws) {
  const nlohmann::json result = run_json(kLaws);
  EXPECT_TRUE(result["passed"].get<bool>());
  ASSERT_EQ(result["parts"].size(), 7u);
  for (const nlohmann::json& part : result["parts"]) {
    const std::string name = part["name"];
    EXPECT_TRUE(part["available"].get<bool>()) << name;
    EXPECT_EQ(part["worst"].size(), name == "law, variance in stream order" ? 4u : 5u) << name;
    for (const nlohmann::json& one : part["worst"]) EXPECT_GT(one["standard_error"], 0) << name << one;
    if (name == "law, variance in stream order") {
      EXPECT_EQ(part["threshold"]["worst"], 0.10);
      EXPECT_GT(part["naive"]["1/CP"]["median"], 0.3);  // what neighbours cost a law that ignores them
    } else {
      EXPECT_EQ(part["threshold"]["deviation"], 4.5) << name;
      EXPECT_LE(part["worst_deviation"], 4.5) << name;
    }
  }
  EXPECT_GT(result["parts"][0]["naive"]["Gaussian extremes"]["median"], 0.03);
}

TEST(ValidateLaws, TextNamesErrorsInStandardErrors) {
  const Outcome outcome = run_counterpoise(kLaws + "--law-window 4k");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.output;
  for (const char* text : {"law, P(max/min < 2)", "windows of 4K tokens of preset:wlbllm_mix",
                           "standard errors off", "20,000 steps drawn", "worst of the tested rows"})
    EXPECT_NE(outcome.output.find(text), std::string::npos) << text << "\n" << outcome.output;
}

TEST(ValidateLaws, EqualWindowsHaveNoVarianceToPredict) {
  const nlohmann::json result = run_json("validate --only laws --steps 1000 --lengths 'dist:constant(4k)'");
  EXPECT_TRUE(result["passed"].get<bool>());
  for (const nlohmann::json& part : result["parts"])
    EXPECT_EQ(part["available"].get<bool>(),
              part["name"].get<std::string>().find("variance") == std::string::npos);
}

TEST(ValidateLaws, BadFlagsAreNamed) {
  const Outcome few = run_counterpoise("validate --only laws --steps 10");
  EXPECT_EQ(few.exit_code, 2);
  EXPECT_NE(few.output.find("at least 1000"), std::string::npos) << few.output;
  EXPECT_EQ(run_counterpoise("validate --only laws --law-window 8kb").exit_code, 2);
  EXPECT_EQ(run_counterpoise("validate --only laws --lengths /nonexistent.txt").exit_code, 3);
  const Outcome moon = run_counterpoise("validate --only moon");
  EXPECT_NE(moon.output.find("all, tables, cpu or laws"), std::string::npos) << moon.output;
}

}  // namespace
}  // namespace counterpoise
