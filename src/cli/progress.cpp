// SPDX-License-Identifier: Apache-2.0
#include "cli/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <charconv>
#include <cstdio>

#include "counterpoise/error.h"

namespace counterpoise {

double parse_duration(const std::string& text, const std::string& flag) {
  double value = 0;
  const char* end = text.data() + text.size();
  const auto [rest, status] = std::from_chars(text.data(), end, value);
  const std::string unit(rest, end);
  const double scale = unit == "m" || unit == "min"  ? 60
                       : unit == "ms"                ? 1e-3
                       : unit.empty() || unit == "s" ? 1
                                                     : 0;
  if (status != std::errc() || scale == 0 || !(value > 0) || value > 1e6)
    throw_error(ErrorKind::kUsage, "{}: '{}' is not a time; write for example 20s, 500ms or 2m", flag, text);
  return value * scale;
}

void ProgressLine::show(const std::string& what, double done) {
  if (!isatty(STDERR_FILENO)) return;
  if (what != what_) begin_ = std::chrono::steady_clock::now();
  what_ = what;
  const double spent = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
  const std::string left = done > 0.02 ? fmt::format(", {:.0f} s left", spent / done * (1 - done)) : "";
  fmt::print(stderr, "\r\033[K{} {:.0f} %{}", what, 100 * done, left);
  std::fflush(stderr);
}

void ProgressLine::clear() {
  if (!what_.empty()) fmt::print(stderr, "\r\033[K");
  what_.clear();
}

}  // namespace counterpoise
