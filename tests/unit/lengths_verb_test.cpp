// SPDX-License-Identifier: Apache-2.0
// The verb as a user runs it: streams, exit codes, JSON.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdio>
#include <nlohmann/json.hpp>

#include "length_files.h"

namespace counterpoise {
namespace {

struct Outcome {
  int exit_code = -1;
  std::string out;
};

// `arguments` is shell text; stderr is dropped, or takes the place of stdout.
Outcome run_lengths(const std::string& arguments, bool errors = false) {
  const std::string command = std::string(COUNTERPOISE_BINARY) + " lengths " + arguments +
                              (errors ? " 2>&1 >/dev/null" : " 2>/dev/null");
  Outcome outcome;
  FILE* pipe = ::popen(command.c_str(), "r");
  char buffer[4096];
  for (size_t n; (n = std::fread(buffer, 1, sizeof buffer, pipe)) > 0;) outcome.out.append(buffer, n);
  const int status = ::pclose(pipe);
  outcome.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return outcome;
}

TEST(LengthsVerb, ReadsFilesPresetsAndStdin) {
  const LengthFile file("a.csv", "id,size\n1,5\n2,7\n");
  EXPECT_EQ(run_lengths(file.path() + " --field size").out.find("2 documents, 12 tokens; "), 0u);
  EXPECT_EQ(run_lengths("--lengths " + file.path() + " --field size").exit_code, 0);
  EXPECT_EQ(run_lengths("- --format csv --field size < " + file.path()).out.find("2 documents, 12 tokens; "),
            0u);
  EXPECT_EQ(run_lengths("preset:magi").out.find("A distribution with a mean of 1,783 tokens; "), 0u);
  EXPECT_EQ(run_lengths("'dist:constant(4k)'").exit_code, 0);
}

TEST(LengthsVerb, JsonGoesWhereItIsSent) {
  const LengthFile file("a.txt", "1\n2\n3\n");
  const Outcome outcome = run_lengths(file.path() + " --json -");
  const auto json = nlohmann::json::parse(outcome.out);
  EXPECT_EQ(json["schema"], "counterpoise/lengths");
  EXPECT_EQ(json["version"], 1);
  EXPECT_EQ(json["documents"], 3);
  EXPECT_EQ(json["quantiles"]["max"], 3);
  EXPECT_TRUE(json["tail_index"]["length"].is_null());

  const std::string target = file.path() + ".json";
  EXPECT_EQ(run_lengths(file.path() + " --json " + target).out.find("3 documents"), 0u);
  std::ifstream written(target);
  EXPECT_EQ(nlohmann::json::parse(written), json);
}

TEST(LengthsVerb, ExitCodesTellWhoseFaultItIs) {
  const LengthFile bad("a.txt", "1\n-2\n");
  const Outcome corrupt = run_lengths(bad.path(), true);
  EXPECT_EQ(corrupt.exit_code, 3);
  EXPECT_EQ(corrupt.out, "counterpoise: " + bad.path() + ":2: negative length -2\n");
  EXPECT_EQ(run_lengths("- < /dev/null", true).out, "counterpoise: stdin: is empty\n");
  EXPECT_EQ(run_lengths("/nonexistent").exit_code, 3);
  EXPECT_EQ(run_lengths("preset:unknown").exit_code, 2);
  EXPECT_EQ(run_lengths("'dist:constant(x)'").exit_code, 2);
  EXPECT_EQ(run_lengths("").exit_code, 2);
  EXPECT_EQ(run_lengths(bad.path() + " --format yaml").exit_code, 2);
}

}  // namespace
}  // namespace counterpoise
