// SPDX-License-Identifier: Apache-2.0
#include "command.h"
#include "counterpoise/attention.h"

namespace counterpoise {
namespace {

// Every verb that runs kernels takes --isa and refuses, by name, what cannot run here.
TEST(IsaOption, IsRefusedByNameByEveryVerbThatRunsKernels) {
  const std::vector<Isa> available = available_isas();
  for (const char* verb : {"calibrate --budget 1s", "study --budget 1s", "validate --only cpu --budget 1s",
                           "run --lengths 'dist:constant(64)' --window 64"}) {
    const std::string command = std::string(verb) + " --isa ";
    EXPECT_EQ(run_counterpoise(command + "mmx").exit_code, 2) << verb;
    for (const Isa isa : built_isas()) {
      if (std::find(available.begin(), available.end(), isa) != available.end()) continue;
      const Outcome outcome = run_counterpoise(command + std::string(isa_name(isa)));
      EXPECT_TRUE(outcome.exit_code == 4 || outcome.exit_code == 5) << outcome.output;
      EXPECT_NE(outcome.output.find(isa_name(isa)), std::string::npos) << outcome.output;
    }
  }
}

TEST(IsaOption, TheOneAskedForRuns) {
  const nlohmann::json run = run_json(
      "run --lengths 'dist:uniform(min=8,max=64)' --window 64 --dp 1 --cp 2 --steps 1 --gradient 1k --isa "
      "portable");
  EXPECT_EQ(run["kernel"]["isa"], "portable") << run.dump();
}

}  // namespace
}  // namespace counterpoise
