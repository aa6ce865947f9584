// SPDX-License-Identifier: Apache-2.0
// The verb as a user runs it: streams, exit codes, JSON.
#include "command.h"
#include "length_files.h"

namespace counterpoise {
namespace {

// stderr is dropped, or takes the place of stdout.
Outcome run_lengths(const std::string& arguments, bool errors = false) {
  return run_counterpoise("lengths " + arguments + (errors ? " 2>&1 >/dev/null" : " 2>/dev/null"));
}

TEST(LengthsVerb, ReadsFilesPresetsAndStdin) {
  const LengthFile file("a.csv", "id,size\n1,5\n2,7\n");
  EXPECT_EQ(run_lengths(file.path() + " --field size").output.find("2 documents, 12 tokens; "), 0u);
  EXPECT_EQ(run_lengths("--lengths " + file.path() + " --field size").exit_code, 0);
  EXPECT_EQ(
      run_lengths("- --format csv --field size < " + file.path()).output.find("2 documents, 12 tokens; "),
      0u);
  EXPECT_EQ(run_lengths("preset:magi").output.find("A distribution with a mean of 1,783 tokens; "), 0u);
  EXPECT_EQ(run_lengths("'dist:constant(4k)'").exit_code, 0);
}

TEST(LengthsVerb, JsonGoesWhereItIsSent) {
  const LengthFile file("a.txt", "1\n2\n3\n");
  const Outcome outcome = run_lengths(file.path() + " --json -");
  const auto json = nlohmann::json::parse(outcome.output);
  EXPECT_EQ(json["schema"], "counterpoise/lengths");
  EXPECT_EQ(json["version"], 1);
  EXPECT_EQ(json["documents"], 3);
  EXPECT_EQ(json["quantiles"]["max"], 3);
  EXPECT_TRUE(json["tail_index"]["length"].is_null());

  const std::string target = file.path() + ".json";
  EXPECT_EQ(run_lengths(file.path() + " --json " + target).output.find("3 documents"), 0u);
  std::ifstream written(target);
  EXPECT_EQ(nlohmann::json::parse(written), json);
}

TEST(LengthsVerb, ExitCodesTellWhoseFaultItIs) {
  const LengthFile bad("a.txt", "1\n-2\n");
  const Outcome corrupt = run_lengths(bad.path(), true);
  EXPECT_EQ(corrupt.exit_code, 3);
  EXPECT_EQ(corrupt.output, "counterpoise: " + bad.path() + ":2: negative length -2\n");
  EXPECT_EQ(run_lengths("- < /dev/null", true).output, "counterpoise: stdin: is empty\n");
  EXPECT_EQ(run_lengths("/nonexistent").exit_code, 3);
  EXPECT_EQ(run_lengths("preset:unknown").exit_code, 2);
  EXPECT_EQ(run_lengths("'dist:constant(x)'").exit_code, 2);
  EXPECT_EQ(run_lengths("").exit_code, 2);
  EXPECT_EQ(run_lengths(bad.path() + " --format yaml").exit_code, 2);
}

}  // namespace
}  // namespace counterpoise
