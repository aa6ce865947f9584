// SPDX-License-Identifier: Apache-2.0
#include "command.h"
#include "counterpoise/plan_file.h"

namespace counterpoise {
namespace {

class PlanVerbs : public testing::Test {
 protected:
  PlanVerbs() : folder_(std::filesystem::temp_directory_path() / ("plan_verbs_" + std::to_string(getpid()))) {
    std::filesystem::create_directories(folder_);
  }
  ~PlanVerbs() override { std::filesystem::remove_all(folder_); }

  std::string file(const char* name) const { return folder_ / name; }
  Outcome plan(const std::string& more) const {
    return run_counterpoise("plan --lengths 'dist:lognormal(median=300,sigma=1,max=2k)' --window 1k " + more);
  }

  std::filesystem::path folder_;
};

TEST_F(PlanVerbs, PlanCheckAndShowAFile) {
  const Outcome planned = plan("--dp 2 --cp 4 --backward --shard per_document_zigzag -o " + file("a.plan"));
  EXPECT_EQ(planned.exit_code, 0) << planned.output;
  EXPECT_NE(planned.output.find("per_document_zigzag x ring, dp 2, cp 4"), std::string::npos)
      << planned.output;
  EXPECT_NE(planned.output.find("least for these holders"), std::string::npos);
  const Outcome checked = run_counterpoise("check-plan " + file("a.plan"));
  EXPECT_EQ(checked.exit_code, 0) << checked.output;
  EXPECT_NE(checked.output.find("valid"), std::string::npos);
  const Outcome shown =
      run_counterpoise("show " + file("a.plan") + " --cells 16 --program 3 --backward --group 1");
  EXPECT_EQ(shown.exit_code, 0) << shown.output;
  EXPECT_NE(shown.output.find("program of rank 3"), std::string::npos);
  EXPECT_EQ(shown.output.find('\033'), std::string::npos) << "no colours into a pipe";
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
  const auto loads = nlohmann::json::parse(plan("--cp 2 --json -").output);
  EXPECT_EQ(loads["schema"], "counterpoise/plan");
  EXPECT_EQ(loads["groups"][0]["windows"][0]["forward"]["ranks"].size(), 2u);
  EXPECT_GE(loads["groups"][0]["windows"][0]["forward"]["traffic"]["sent"],
            loads["groups"][0]["windows"][0]["forward"]["traffic"]["lower_bound"]);
  const auto shown = nlohmann::json::parse(run_counterpoise("show " + file("a.plan") + " --json -").output);
  EXPECT_GT(shown["groups"][0]["windows"][0]["forward"]["tiles"].size(), 0u);
  const auto checked =
      nlohmann::json::parse(run_counterpoise("check-plan " + file("a.plan") + " --json -").output);
  EXPECT_EQ(checked["valid"], true);
}

TEST_F(PlanVerbs, InvalidPlansExitOne) {
  PlanRequest request;
  request.groups = {{{{0, 64}}}};
  request.cp = 2;
  StepPlan broken = make_plan(request);
  broken.groups[0].windows[0].forward.tiles[0].kv.end -= 1;
  write_plan_file(file("broken.plan"), broken);
  const Outcome checked = run_counterpoise("check-plan " + file("broken.plan"));
  EXPECT_EQ(checked.exit_code, 1) << checked.output;
  EXPECT_NE(checked.output.find("coverage: group 0 window 0 forward document 0"), std::string::npos)
      << checked.output;
  EXPECT_EQ(run_counterpoise("show " + file("broken.plan")).exit_code, 1);
  const Outcome limited = run_counterpoise("check-plan --memory-limit 10 " + file("broken.plan"));
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
  EXPECT_EQ(run_counterpoise("plan --lengths " + file("few.txt") + " --order corpus --dp 4").exit_code, 4);
  std::ofstream(file("not.plan")) << "hello";
  const Outcome checked = run_counterpoise("check-plan " + file("not.plan"));
  EXPECT_EQ(checked.exit_code, 3);
  EXPECT_NE(checked.output.find("offset"), std::string::npos) << checked.output;
  EXPECT_EQ(run_counterpoise("check-plan " + file("absent.plan")).exit_code, 3);
}

TEST_F(PlanVerbs, ShowRefusesWhatThePlanDoesNotHave) {
  plan("--cp 2 -o " + file("a.plan"));
  for (const char* flag : {"--group 1", "--window 1", "--head 8", "--program 2"}) {
    EXPECT_EQ(run_counterpoise("show " + file("a.plan") + " " + flag).exit_code, 2) << flag;
  }
}

}  // namespace
}  // namespace counterpoise
