// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "lengths/place.h"

namespace counterpoise {

// Records of delimited text (RFC 4180): quoted cells may hold delimiters, line breaks and doubled quotes;
// blank lines are skipped. The delimiter is whichever of , tab ; | the first line uses most.
class CsvScanner {
 public:
  CsvScanner(std::string_view file, std::string_view bytes);

  // The next record; its cells stay valid until the call after. False at the end.
  bool next(std::vector<std::string_view>& cells);
  // Where the current record began.
  Place place() const { return Place::line(file_, record_line_); }

 private:
  std::string_view take_cell();
  std::string_view take_quoted();
  bool at_line_end() const { return at_ == bytes_.size() || bytes_[at_] == '\n'; }
  void skip_blank_lines();

  std::string_view file_;
  std::string_view bytes_;
  char delimiter_ = ',';
  size_t at_ = 0;
  int64_t line_ = 1;
  int64_t record_line_ = 1;
  std::deque<std::string> unescaped_;
};

}  // namespace counterpoise
