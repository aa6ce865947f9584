// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <chrono>
#include <string>

namespace counterpoise {

// "60s", "2m", "500ms", "90": seconds above zero. kUsage names the flag.
double parse_duration(const std::string& text, const std::string& flag);

// One line on stderr, rewritten in place, with the time left; silent where stderr is no terminal. Erased at
// the end of its life.
class ProgressLine {
 public:
  ~ProgressLine() { clear(); }
  void show(const std::string& what, double done);
  void clear();

 private:
  std::string what_;
  std::chrono::steady_clock::time_point begin_;
};

}  // namespace counterpoise
