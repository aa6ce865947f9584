// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

namespace counterpoise {

// What a user sees of one run of the command line.
struct Outcome {
  int exit_code = -1;
  std::string output;  // stdout and stderr, in order
};

inline Outcome run_shell(const std::string& command) {
  Outcome outcome;
  FILE* pipe = popen(("(" + command + ") 2>&1").c_str(), "r");
  if (!pipe) return outcome;
  char buffer[4096];
  for (size_t n; (n = fread(buffer, 1, sizeof buffer, pipe)) > 0;) outcome.output.append(buffer, n);
  const int status = pclose(pipe);
  outcome.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return outcome;
}

// Runs `counterpoise ARGUMENTS` in a shell, so quoting and redirection are the test's.
inline Outcome run_counterpoise(const std::string& arguments) {
  return run_shell(COUNTERPOISE_BINARY " " + arguments);
}

// `counterpoise ARGUMENTS` ends with this exit code and these words.
inline void expect_refused(const std::string& arguments, int exit_code, const std::string& words) {
  const Outcome outcome = run_counterpoise(arguments);
  EXPECT_EQ(outcome.exit_code, exit_code) << arguments << "\n" << outcome.output;
  EXPECT_NE(outcome.output.find(words), std::string::npos) << arguments << "\n" << outcome.output;
}

// The JSON document of a run with `--json -`, on stdout alone.
inline nlohmann::json run_json(const std::string& arguments) {
  const Outcome outcome = run_counterpoise(arguments + " --json - 2>/dev/null");
  EXPECT_EQ(outcome.exit_code, 0) << arguments << "\n" << outcome.output;
  const nlohmann::json json = nlohmann::json::parse(outcome.output, nullptr, false);
  EXPECT_FALSE(json.is_discarded()) << outcome.output;
  return json;
}

// A file in a folder of this process, gone at its end.
class ScratchFile {
 public:
  ScratchFile(const std::string& name, const std::string& content)
      : path_(std::filesystem::temp_directory_path() /
              ("counterpoise_" + std::to_string(getpid()) + "_" + name)) {
    std::ofstream(path_) << content;
  }
  ~ScratchFile() { std::filesystem::remove(path_); }
  ScratchFile(const ScratchFile&) = delete;
  ScratchFile& operator=(const ScratchFile&) = delete;
  std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

inline std::string data_file(const std::string& name) {
  return std::string(COUNTERPOISE_DATA) + "/" + name;
}

}  // namespace counterpoise

// Skips the test where the published data sets are absent.
#define REQUIRE_DATA_FILE(name)                                  \
  if (!std::filesystem::exists(::counterpoise::data_file(name))) \
  GTEST_SKIP() << "needs " << ::counterpoise::data_file(name)
