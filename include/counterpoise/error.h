// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <fmt/format.h>

#include <stdexcept>
#include <string>
#include <utility>

namespace counterpoise {

// What went wrong, and with it the exit code of the command line (see README, "Exit codes").
enum class ErrorKind {
  kCheckFailed = 1,   // a check ran and failed
  kUsage = 2,         // a flag or an argument is wrong
  kBadInput = 3,      // a file is corrupt, truncated or empty
  kInfeasible = 4,    // the layout cannot be built: message names value, rule and the nearest legal choice
  kNotBuilt = 5,      // the backend was left out of this build
  kInconclusive = 6,  // a check ran, but the machine was too noisy for a verdict
};

// The one exception of the library. `what()` is a sentence for the user: it names file, line or offset,
// document, rank or flag, and what would be right.
class Error : public std::runtime_error {
 public:
  Error(ErrorKind kind, const std::string& message) : std::runtime_error(message), kind_(kind) {}
  ErrorKind kind() const { return kind_; }
  int exit_code() const { return static_cast<int>(kind_); }

 private:
  ErrorKind kind_;
};

// throw_error(ErrorKind::kBadInput, "{}:{}: negative length {}", file, line, value)
template <typename... Args>
[[noreturn]] void throw_error(ErrorKind kind, fmt::format_string<Args...> format, Args&&... args) {
  throw Error(kind, fmt::format(format, std::forward<Args>(args)...));
}

// A broken invariant of ours, never the user's fault. Stays on in release builds.
[[noreturn]] void invariant_failed(const char* condition, const char* file, int line);

}  // namespace counterpoise

#define CP_CHECK(condition) \
  ((condition) ? static_cast<void>(0) : ::counterpoise::invariant_failed(#condition, __FILE__, __LINE__))
