// SPDX-License-Identifier: Apache-2.0
#include "command.h"

namespace counterpoise {
namespace {

TEST(SimulateCommand, PrintsAHeadlineATableAndJson) {
  const Outcome outcome = run_counterpoise("simulate preset:wlbllm_mix --steps 200");
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_NE(outcome.output.find("At CP = 16 the slowest of 4 groups"), std::string::npos) << outcome.output;
  const nlohmann::json json = run_json("simulate preset:wlbllm_mix --steps 200 --cp 1,8");
  EXPECT_EQ(json["schema"], "counterpoise/simulate");
  ASSERT_EQ(json["results"].size(), 2u);
  for (const char* key : {"cp", "groups", "variance", "variance_ratio", "cv", "cv2_ratio", "max_over_min",
                          "max_over_mean", "slowdown", "wait_share", "memory", "fixed_groups"})
    EXPECT_TRUE(json["results"][1].contains(key)) << key;
  EXPECT_EQ(json["results"][1]["groups"], 8);
  EXPECT_EQ(json["results"][1]["variance_ratio"]["ci95"].size(), 2u);
  const nlohmann::json& law = json["results"][1]["law"];
  for (const char* key : {"variance_ratio", "effective_windows", "slowdown", "slowdown_micro_batch",
                          "gaussian_slowdown", "max_over_mean", "cv", "within_step_variance", "wait_share"})
    EXPECT_TRUE(law[key].is_number()) << key;
  for (const char* key : {"p50", "p90", "mean", "share_below_2"})
    EXPECT_TRUE(law["max_over_min"][key].is_number()) << key;
  EXPECT_EQ(law["fixed_groups"]["groups"], 8);
}

TEST(SimulateCommand, HeavyTailsAreNamedWithTheLaws) {
  const std::string command = "simulate 'dist:pareto(min=512,alpha=1.2,max=512k)' --steps 20 --window 64k";
  EXPECT_NE(run_counterpoise(command).output.find("tail index of length^2"), std::string::npos);
  EXPECT_EQ(run_counterpoise(command + " --no-laws").output.find("tail index of length^2"),
            std::string::npos);
}

TEST(SimulateCommand, CpThatDoesNotDivideTheRanksNamesTheLegalOnes) {
  const Outcome outcome = run_counterpoise("simulate preset:wlbllm_mix --ranks 64 --cp 3");
  EXPECT_EQ(outcome.exit_code, 4);
  EXPECT_NE(outcome.output.find("legal values are 1, 2, 4, 8, 16, 32, 64"), std::string::npos)
      << outcome.output;
  EXPECT_EQ(run_counterpoise("simulate preset:wlbllm_mix --ranks 48 --cp 3 --steps 20").exit_code, 0);
}

TEST(SimulateCommand, EveryLengthIsLegal) {
  const ScratchFile one("one.txt", "1\n"), few("few.txt", "5\n100\n7\n"), huge("huge.txt", "2000000\n3\n"),
      zeros("zeros.txt", "0\n0\n0\n"), some_zeros("some_zeros.txt", "0\n9\n0\n");
  for (const std::string& path : {one.path(), few.path(), huge.path(), some_zeros.path()})
    for (const char* more : {"", " --pack one_document", " --pack best_fit_decreasing", " --regime grow",
                             " --order shuffle", " --window-order stream", " --long truncate"}) {
      const Outcome outcome = run_counterpoise("simulate " + path + " --steps 5 --window 4k" + more);
      EXPECT_EQ(outcome.exit_code, 0) << path << more << "\n" << outcome.output;
    }
  const Outcome nothing = run_counterpoise("simulate " + zeros.path());
  EXPECT_EQ(nothing.exit_code, 3);
  EXPECT_NE(nothing.output.find("all 3 documents have length 0"), std::string::npos) << nothing.output;
  EXPECT_EQ(run_counterpoise("simulate " + few.path() + " --order corpus --window 64").exit_code, 3);
  EXPECT_EQ(run_counterpoise("simulate " + huge.path() + " --long drop --steps 1 --window 2").exit_code, 3);
}

TEST(SimulateCommand, BadFlagsAreNamed) {
  const Outcome outcome = run_counterpoise("simulate preset:wlbllm_mix --window 4kb");
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_NE(outcome.output.find("--window: '4kb'"), std::string::npos) << outcome.output;
  for (const char* flags : {"--pack first_fit", "--order random", "--profile v100", "--cp 2,1", "--ranks 0",
                            "--steps 0", "--regime shrink", "--sync never", "--nonsense"})
    EXPECT_EQ(run_counterpoise(std::string("simulate preset:wlbllm_mix ") + flags).exit_code, 2) << flags;
  EXPECT_EQ(run_counterpoise("simulate /nonexistent.txt").exit_code, 3);
}

TEST(SimulateCommand, APlannedSplitShowsTheInsideOfItsGroups) {
  const std::string command = "simulate preset:wlbllm_mix --steps 40 --cp 1,2,8 ";
  const Outcome text = run_counterpoise(command + "--shard zigzag --scheme ring");
  EXPECT_EQ(text.exit_code, 0) << text.output;
  for (const char* phrase :
       {"At CP = 8 a step takes", "zigzag shards, scheme ring", "h100-sendrecv", "exposed comm"})
    EXPECT_NE(text.output.find(phrase), std::string::npos) << phrase << "\n" << text.output;
  const nlohmann::json ideal = run_json(command), zigzag = run_json(command + "--shard zigzag");
  EXPECT_EQ(ideal["config"]["shard"], "ideal");
  EXPECT_FALSE(ideal["results"][2].contains("within_groups"));
  EXPECT_FALSE(ideal["config"].contains("split"));
  EXPECT_EQ(zigzag["config"]["split"]["scheme"], "ring");
  EXPECT_EQ(zigzag["config"]["split"]["links"], "h100-sendrecv");
  EXPECT_EQ(zigzag["results"][2]["shard"], "zigzag");
  EXPECT_EQ(zigzag["results"][2]["scheme"], "ring");
  const nlohmann::json& one = zigzag["results"][0]["within_groups"];
  EXPECT_EQ(one["imbalance"], 1.0);
  EXPECT_EQ(one["exposed_comm"], 0.0);
  EXPECT_EQ(one["bytes_sent_per_rank"]["most"], 0);
  const nlohmann::json& eight = zigzag["results"][2]["within_groups"];
  EXPECT_GT(eight["imbalance"], 1.0);
  EXPECT_GT(eight["exposed_comm"], 0.0);
  // 8 windows, each: 7 messages of 4096 rows x 8 kv heads x (128 + 128) x 2 bytes
  EXPECT_EQ(eight["bytes_sent_per_rank"]["mean"], 8 * 7 * 4096.0 * 8 * 256 * 2);
  // Windows are the same: without a group to split, only the heads differ, 32 of them against the profile's
  // one.
  EXPECT_NEAR(zigzag["results"][0]["mean"].get<double>() / ideal["results"][0]["mean"].get<double>(), 32,
              1e-9);
}

TEST(SimulateCommand, WholeDocumentsAndServersBalanceOtherwise) {
  const std::string command = "simulate preset:wlbllm_mix --steps 20 --cp 8 --links none --shard contiguous ";
  const auto imbalance = [](const nlohmann::json& json) {
    return json["results"][0]["within_groups"]["imbalance"].get<double>();
  };
  EXPECT_GT(imbalance(run_json(command + "--profile area")), 1.2);
  EXPECT_LT(imbalance(run_json(command + "--profile area --scheme attention_server")), 1.01);
}

TEST(SimulateCommand, PlannedNumbersAreTheSameForAnyThreadCount) {
  const std::string command =
      "simulate preset:wlbllm_mix --steps 20 --cp 1,4 --shard adaptive --scheme direct --threads ";
  EXPECT_EQ(run_json(command + "1"), run_json(command + "7"));
}

TEST(SimulateCommand, SplitsThatCannotBeAreNamed) {
  const auto refused = [](const std::string& flags, int code, const std::string& rule) {
    expect_refused("simulate preset:wlbllm_mix --steps 2 " + flags, code, rule);
  };
  refused("--scheme ring", 2, "add --shard with one of contiguous");
  refused("--links none", 2, "add --shard");
  refused("--inner 2", 2, "add --shard");
  refused("--shard round_robin", 2, "unknown sharder");
  refused("--shard zigzag --scheme gossip", 2, "unknown scheme");
  refused("--shard zigzag --scheme all_to_all --cp 64", 4, "nearest legal: cp 32");
  refused("--shard zigzag --scheme ring2d --inner 3 --cp 8", 4, "nearest legal: inner 2");
  refused("--shard whole_document --token-cap 10 --cp 8", 4, "nearest legal: 4096");
  refused("--shard zigzag --kv-heads 5", 2, "multiple of kv_heads");
  refused("--shard zigzag --links carrier_pigeon", 2, "built in are");
  refused("--shard zigzag --links h200-nccl", 2, "no send_recv curve");
  refused("--shard zigzag --profile area --links h100-sendrecv", 2, "no message can be compared");
  refused("--shard zigzag --cp 16 --ranks-per-node 8", 2, "level 'network'");
}

TEST(SimulateCommand, FailAboveDecidesTheExitCode) {
  const std::string command =
      "simulate preset:wlbllm_mix --steps 300 --window 4k --profile area --cp 1,8 --fail-above ";
  EXPECT_EQ(run_counterpoise(command + "2").exit_code, 0);
  const Outcome failed = run_counterpoise(command + "1.2");
  EXPECT_EQ(failed.exit_code, 1);
  EXPECT_NE(failed.output.find("median max/min at CP = 8"), std::string::npos) << failed.output;
}

TEST(SimulateCommand, SameNumbersForAnyThreadCount) {
  const std::string command = "simulate preset:wikipedia --steps 300 --threads ";
  EXPECT_EQ(run_json(command + "1"), run_json(command + "7"));
}

// Published stand-in for a 128K mix at 8K windows: long documents fill neighbouring windows, so in stream
// order the variance falls much slower than 1/CP. The ratios x CP were found by an independent simulation.
TEST(SimulateCommand, StreamOrderKeepsNeighboursAlike) {
  REQUIRE_DATA_FILE("lengths/wlbllm_mix.json");
  const nlohmann::json json =
      run_json("simulate " + data_file("lengths/wlbllm_mix.json") +
               " --window 8k --window-order stream --profile area --steps 4000 --cp 1,2,4,8,16");
  const double expected[] = {1, 1.67, 2.7, 4.1, 5.2};
  for (size_t j = 0; j < 5; ++j) {
    const nlohmann::json& result = json["results"][j];
    EXPECT_NEAR(result["variance_ratio"]["value"].get<double>() * result["cp"].get<double>(), expected[j],
                0.1 * expected[j])
        << j;
  }
}

TEST(SimulateCommand, EveryPublishedSetIsSimulated) {
  for (const char* name : {"wlbllm_mix.json", "wikipedia_400k.txt", "magi_histogram.csv",
                           "mooncake_conversation.jsonl", "azure_conv_2023.csv", "openchat_sft.json"}) {
    REQUIRE_DATA_FILE(std::string("lengths/") + name);
    const nlohmann::json json =
        run_json("simulate " + data_file(std::string("lengths/") + name) + " --steps 100 --cp 1,4");
    const double slowdown = json["results"][1]["slowdown"].get<double>();
    EXPECT_GE(slowdown, 1.0) << name;
    EXPECT_LE(slowdown, json["results"][0]["slowdown"].get<double>()) << name;
  }
}

}  // namespace
}  // namespace counterpoise
