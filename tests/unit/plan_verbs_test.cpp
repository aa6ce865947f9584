// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "counterpoise/plan_file.h"

namespace counterpoise {
namespace {

struct Output {
  int exit_code = -1;
  std::string text;  // stdout and stderr
};

Output run(const std::string& arguments) {
  const std::string command = std::string(COUNTERPOISE_BINARY) + " " + arguments + " 2>&1";
  FILE* pipe = popen(command.c_str(), "r");
  Output output;
  std::array<char, 4096> chunk;
  while (const size_t got = fread(chunk.data(), 1, chunk.size(), pipe)) output.text.append(chunk.data(), got);
  const int status = pclose(pipe);
  output.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return output;
}

class PlanVerbs : public testing::Test {
 protected:
  PlanVerbs() : folder_(std::filesystem::temp_directory_path() / ("plan_verbs_" + std::to_string(getpid()))) {
    std::filesystem::create_directories(folder_);
  }
  ~PlanVerbs() override { std::filesystem::remove_all(folder_); }

  std::string file(const char* name) const { return folder_ / name; }
  Output plan(const std::string& more) const {
    return run("plan --lengths 'dist:lognormal(median=300,sigma=1,max=2k)' --window 1k " + more);
  }

  std::filesystem::path folder_;
};

TEST_F(PlanVerbs, PlanCheckAndShowAFile) {
  const Output planned = plan("--dp 2 --cp 4 --backward --shard per_document_zigzag -o " + file("a.plan"));
  EXPECT_EQ(planned.exit_code, 0) << planned.text;
  EXPECT_NE(planned.text.find("per_document_zigzag x ring, dp 2, cp 4"), std::string::npos) << planned.text;
  EXPECT_NE(planned.text.find("least for these holders"), std::string::npos);
  const Output checked = run("check-plan " + file("a.plan"));
  EXPECT_EQ(checked.exit_code, 0) << checked.text;
  EXPECT_NE(checked.text.find("valid"), std::string::npos);
  const Output shown = run("show " + file("a.plan") + " --cells 16 --program 3 --backward --group 1");
  EXPECT_EQ(shown.exit_code, 0) << shown.text;
  EXPECT_NE(shown.text.find("program of rank 3"), std::string::npos);
  EXPECT_EQ(shown.text.find('\033'), std::string::npos) << "no colours into a pipe";
}

TEST_F(PlanVerbs, SamePlanSameBytes) {
  plan("--seed 7 -o " + file("a.plan"));
  plan("--seed 7 -o " + file("b.plan"));
  plan("--seed 8 -o " + file("c.plan"));
  EXPECT_EQ(plan_hash(read_plan_file(file("a.plan"))), plan_hash(read_plan_file(file("b.plan"))));
  EXPECT_NE(plan_hash(read_plan_file(file("a.plan"))), plan_hash(read_plan_file(file("c.plan"))));
}

TEST_F(PlanVerbs, JsonHoldsLoadsPictureAndFindings) {
  plan("--cp 2 -o " + file("a.plan"));
  const auto loads = nlohmann::json::parse(plan("--cp 2 --json -").text);
  EXPECT_EQ(loads["schema"], "counterpoise/plan");
  EXPECT_EQ(loads["groups"][0]["windows"][0]["forward"]["ranks"].size(), 2u);
  EXPECT_GE(loads["groups"][0]["windows"][0]["forward"]["traffic"]["sent"],
            loads["groups"][0]["windows"][0]["forward"]["traffic"]["lower_bound"]);
  const auto shown = nlohmann::json::parse(run("show " + file("a.plan") + " --json -").text);
  EXPECT_GT(shown["groups"][0]["windows"][0]["forward"]["tiles"].size(), 0u);
  const auto checked = nlohmann::json::parse(run("check-plan " + file("a.plan") + " --json -").text);
  EXPECT_EQ(checked["valid"], true);
}

TEST_F(PlanVerbs, InvalidPlansExitOne) {
  PlanRequest request;
  request.groups = {{{{0, 64}}}};
  request.cp = 2;
  StepPlan broken = make_plan(request);
  broken.groups[0].windows[0].forward.tiles[0].kv.end -= 1;
  write_plan_file(file("broken.plan"), broken);
  const Output checked = run("check-plan " + file("broken.plan"));
  EXPECT_EQ(checked.exit_code, 1) << checked.text;
  EXPECT_NE(checked.text.find("coverage: group 0 window 0 forward document 0"), std::string::npos)
      << checked.text;
  EXPECT_EQ(run("show " + file("broken.plan")).exit_code, 1);
  const Output limited = run("check-plan --memory-limit 10 " + file("broken.plan"));
  EXPECT_EQ(limited.exit_code, 1);
}

TEST_F(PlanVerbs, ExitCodesNameTheFault) {
  EXPECT_EQ(plan("--shard round").exit_code, 2);
  EXPECT_EQ(plan("--mask diagonal").exit_code, 2);
  EXPECT_EQ(plan("--mask window:0").exit_code, 2);
  EXPECT_EQ(plan("--dtype float8").exit_code, 2);
  EXPECT_EQ(plan("--heads 8 --kv-heads 3").exit_code, 2);
  EXPECT_EQ(plan("--cp 0").exit_code, 2);
  EXPECT_EQ(plan("--scheme all_to_all --cp 9").exit_code, 4);
  EXPECT_EQ(plan("--shard whole_document --token-cap 100").exit_code, 4);
  std::ofstream(file("few.txt")) << "5\n6\n";
  EXPECT_EQ(run("plan --lengths " + file("few.txt") + " --order corpus --dp 4").exit_code, 4);
  std::ofstream(file("not.plan")) << "hello";
  const Output checked = run("check-plan " + file("not.plan"));
  EXPECT_EQ(checked.exit_code, 3);
  EXPECT_NE(checked.text.find("offset"), std::string::npos) << checked.text;
  EXPECT_EQ(run("check-plan " + file("absent.plan")).exit_code, 3);
}

TEST_F(PlanVerbs, ShowRefusesWhatThePlanDoesNotHave) {
  plan("--cp 2 -o " + file("a.plan"));
  for (const char* flag : {"--group 1", "--window 1", "--head 8", "--program 2"}) {
    EXPECT_EQ(run("show " + file("a.plan") + " " + flag).exit_code, 2) << flag;
  }
}

}  // namespace
}  // namespace counterpoise
