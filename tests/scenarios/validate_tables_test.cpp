// SPDX-License-Identifier: Apache-2.0
#include "command.h"
#include "counterpoise/scheme.h"
#include "counterpoise/shard.h"

namespace counterpoise {
namespace {

nlohmann::json part_named(const nlohmann::json& result, const std::string& name) {
  for (const nlohmann::json& part : result["parts"])
    if (part["name"] == name) return part;
  ADD_FAILURE() << "no part " << name;
  return {};
}

std::string tables() {
  return "validate --only tables --data " + std::string(COUNTERPOISE_DATA);
}

TEST(Validate, H100SharesAreWithinFivePercent) {
  REQUIRE_DATA_FILE("calibration/h100_varlen_causal_forward.psv");
  const nlohmann::json part = part_named(run_json(tables()), "h100-varlen forward");
  EXPECT_EQ(part["fit"]["rows"], 44);
  EXPECT_EQ(part["test"]["rows"], 88);
  EXPECT_LE(part["test"]["median"].get<double>(), 0.05);
  EXPECT_LE(part["test"]["p90"].get<double>(), 0.12);
  for (const auto& [name, error] : part["naive"].items())
    EXPECT_GT(error["median"].get<double>(), 5 * part["test"]["median"].get<double>()) << name;
}

TEST(Validate, A100IsNoWorseThanInterpolationOfItsNeighbours) {
  REQUIRE_DATA_FILE("calibration/a100_attention_forward_backward.csv");
  const nlohmann::json result = run_json(tables());
  const nlohmann::json forward = part_named(result, "a100 forward"),
                       backward = part_named(result, "a100 backward");
  for (const nlohmann::json& part : {forward, backward}) {
    EXPECT_EQ(part["fit"]["rows"].get<int>() + part["test"]["rows"].get<int>(), 352);
    const nlohmann::json neighbours = part["naive"]["log-log interpolation"];
    EXPECT_LE(part["test"]["median"], neighbours["median"]);
    EXPECT_LE(part["test"]["p90"], neighbours["p90"]);
    // Rows in which the device did something else (64 heads over several ranks) are listed, not dropped.
    EXPECT_GE(part["anomalies"].size(), 10u);
  }
  EXPECT_LE(forward["test"]["median"].get<double>(), 0.052);
  EXPECT_LE(forward["test"]["p90"].get<double>(), 0.236);
  EXPECT_LE(backward["test"]["p90"].get<double>(), 0.167);
}

TEST(Validate, LinksArePredictedFromHalfTheSizes) {
  REQUIRE_DATA_FILE("calibration/h200_nccl_8gpu_node.csv");
  const nlohmann::json result = run_json(tables());
  for (const char* name : {"h200 collectives", "h100 send/recv"}) {
    const nlohmann::json part = part_named(result, name);
    EXPECT_LE(part["test"]["median"].get<double>(), 0.05) << name;
    EXPECT_LE(part["test"]["p90"].get<double>(), 0.20) << name;
    ASSERT_EQ(part["naive"].size(), 3u) << name;
    for (const auto& [naive, error] : part["naive"].items())
      EXPECT_GT(error["median"].get<double>(), 2 * part["test"]["median"].get<double>())
          << name << ": " << naive;
  }
}

TEST(Validate, GivenLinksPriceATable) {
  REQUIRE_DATA_FILE("calibration/h200_nccl_8gpu_node.csv");
  const nlohmann::json result =
      run_json("validate --profile h200-nccl --table " + data_file("calibration/h200_nccl_8gpu_node.csv"));
  const nlohmann::json part = part_named(result, "links h200-nccl");
  EXPECT_EQ(part["test"]["rows"], 99);
  EXPECT_TRUE(part["fit"].is_null());
  EXPECT_LE(part["test"]["median"].get<double>(), 0.05);
}

// Nothing was compared, which is no success.
TEST(Validate, TablesThatAreAllAbsentAreAnError) {
  const Outcome outcome = run_counterpoise("validate --only tables --data /nonexistent");
  EXPECT_EQ(outcome.exit_code, 3) << outcome.output;
  EXPECT_NE(outcome.output.find("/nonexistent/calibration holds none"), std::string::npos) << outcome.output;
  EXPECT_NE(outcome.output.find("--data names the folder"), std::string::npos) << outcome.output;
}

TEST(Validate, RowsBeyondAProfilesMeasurementsAreCounted) {
  REQUIRE_DATA_FILE("calibration/a100_attention_forward_backward.csv");
  const std::string table = data_file("calibration/a100_attention_forward_backward.csv");
  const nlohmann::json own = run_json("validate --profile a100 --table " + table),
                       other = run_json("validate --profile h100-varlen --table " + table);
  EXPECT_EQ(part_named(own, "a100 forward")["extrapolated"], 0);
  EXPECT_GT(part_named(other, "h100-varlen forward")["extrapolated"], 100);
}

TEST(Validate, AGivenProfilePricesATable) {
  REQUIRE_DATA_FILE("calibration/a100_attention_forward_backward.csv");
  const std::string table = data_file("calibration/a100_attention_forward_backward.csv");
  const nlohmann::json result = run_json("validate --profile a100 --table " + table);
  ASSERT_EQ(result["parts"].size(), 2u);
  for (const nlohmann::json& part : result["parts"]) {
    EXPECT_EQ(part["test"]["rows"], 352);
    EXPECT_LE(part["test"]["median"].get<double>(), 0.10);
    EXPECT_EQ(part["naive"].size(), 4u);
  }
  // A profile without backward says so.
  const nlohmann::json h100 = run_json("validate --profile h100-varlen --table " + table);
  EXPECT_FALSE(part_named(h100, "h100-varlen backward")["available"].get<bool>());
}

// How near the predictions come depends on how quiet the machine is, so no bound is asserted.
TEST(Validate, ThisCpuIsComparedPerGroupAndForEverySharderWithEveryScheme) {
  const ScratchFile json("validate_cpu.json", "");
  const Outcome outcome =
      run_counterpoise("validate --only cpu --budget 3s --window 256 --json " + json.path());
  std::ifstream file(json.path());
  const nlohmann::json result = nlohmann::json::parse(file);
  EXPECT_EQ(outcome.exit_code, !result["passed"].get<bool>() ? 1 : result["inconclusive"].empty() ? 0 : 6);
  std::vector<std::string> names = {"this CPU, groups at cp 1", "this CPU, groups at cp 8",
                                    "this CPU, plans: all sharders x schemes"};
  for (const SharderInfo& sharder : sharders())
    for (const SchemeInfo& scheme : schemes())
      names.push_back("this CPU, " + sharder.name + " x " + scheme.name);
  EXPECT_EQ(result["parts"].size(), names.size() + 2);  // groups at cp 2 and 4
  for (const std::string& name : names) {
    const nlohmann::json part = part_named(result, name);
    ASSERT_TRUE(part["available"].get<bool>()) << part["reason"];  // no pair is refused
    EXPECT_GE(part["test"]["rows"], 1) << name;
    EXPECT_GE(part["test"]["median"].get<double>(), 0) << name << ": " << part["note"];
    EXPECT_GE(part["noise"].get<double>(), 0);
    EXPECT_NE(part["note"].get<std::string>().find("halves of the runs differ by"), std::string::npos);
  }
}

TEST(Validate, UsageErrors) {
  EXPECT_EQ(run_counterpoise("validate --profile a100").exit_code, 2);
  EXPECT_EQ(run_counterpoise("validate --only moon").exit_code, 2);
  const ScratchFile table("usage.csv", "n,t\n64,1\n");
  EXPECT_EQ(run_counterpoise("validate --profile area --table " + table.path() +
                             " --column tokens=n --column forward=t")
                .exit_code,
            2);
  EXPECT_EQ(run_counterpoise("validate --profile a100 --table /nonexistent.csv").exit_code, 3);
  EXPECT_EQ(run_counterpoise("validate --only tables --column tokens=n").exit_code, 2);
  EXPECT_EQ(run_counterpoise("validate --only laws --law-window 1G").exit_code, 2);
  EXPECT_EQ(run_counterpoise("validate --only laws --steps 1G").exit_code, 2);
}

TEST(Calibrate, SizesBeyondAnyMachineAreRefused) {
  const std::pair<const char*, const char*> cases[] = {
      {"--max-tokens 1000G", "tokens are possible"},
      {"--head-dim 1000000000", "--head-dim"},
      {"--heads 1000000000", "--heads"},
      {"--links 1000", "2 to 64 threads"},
      {"--links 2 --max-message 1000G", "--max-message 1000G: must be from 8K to 1024M"}};
  for (const auto& [options, words] : cases) {
    const Outcome outcome = run_counterpoise(std::string("calibrate --budget 1s ") + options);
    EXPECT_EQ(outcome.exit_code, 2) << options << ": " << outcome.output;
    EXPECT_NE(outcome.output.find(words), std::string::npos) << outcome.output;
  }
}

TEST(Calibrate, FitsATableWhoseColumnsAreNamed) {
  std::string csv = "seqlen,h,time_ms\n";
  for (int length = 256; length <= 32768; length *= 2)
    for (int heads : {8, 32}) {
      const double pairs = 0.5 * length * length * heads;
      csv += std::to_string(length) + "," + std::to_string(heads) + "," +
             std::to_string(0.05 + pairs * 512 / 500e9) + "\n";
    }
  const ScratchFile table("table.csv", csv), profile("fitted.json", "");
  const std::string columns = " --column tokens=seqlen --column heads=h --column forward=time_ms";
  const Outcome outcome =
      run_counterpoise("calibrate --table " + table.path() + columns + " --name mine -o " + profile.path());
  EXPECT_EQ(outcome.exit_code, 0) << outcome.output;
  const nlohmann::json again =
      run_json("validate --profile " + profile.path() + " --table " + table.path() + columns);
  EXPECT_LE(again["parts"][0]["test"]["median"].get<double>(), 0.03);
  EXPECT_EQ(run_counterpoise(
                "simulate --lengths dist:'constant(length=1k)' --ranks 8 --cp 1,2 --window 4k --steps 20 "
                "--profile " +
                profile.path())
                .exit_code,
            0);
  // Errors name file, line and column.
  const ScratchFile bad("bad.csv", "seqlen,h,time_ms\n1024,8,0.5\n1024,eight,0.5\n");
  const Outcome refused = run_counterpoise("calibrate --table " + bad.path() + columns);
  EXPECT_EQ(refused.exit_code, 3);
  EXPECT_NE(refused.output.find("bad.csv:3: column h"), std::string::npos) << refused.output;
  EXPECT_EQ(run_counterpoise("calibrate --table " + table.path()).exit_code, 3);
  EXPECT_EQ(run_counterpoise("calibrate --table " + table.path() + " --column colour=h").exit_code, 2);
}

TEST(Calibrate, LinksTableMakesALinksFile) {
  REQUIRE_DATA_FILE("calibration/h100_sendrecv.csv");
  const ScratchFile links("links.json", "");
  const Outcome outcome = run_counterpoise(
      "calibrate --links-table " + data_file("calibration/h100_sendrecv.csv") + " -o " + links.path());
  EXPECT_EQ(outcome.exit_code, 0) << outcome.output;
  EXPECT_NE(outcome.output.find("send_recv"), std::string::npos);
  EXPECT_EQ(run_counterpoise("calibrate --links-table " + links.path()).exit_code, 3);
}

}  // namespace
}  // namespace counterpoise
