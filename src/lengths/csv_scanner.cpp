// SPDX-License-Identifier: Apache-2.0
#include "lengths/csv_scanner.h"

#include <algorithm>

namespace counterpoise {
namespace {

char delimiter_of(std::string_view line) {
  char best = ',';
  int64_t most = 0;
  for (const char candidate : {',', '\t', ';', '|'}) {
    bool in_quotes = false;
    int64_t count = 0;
    for (const char c : line) {
      if (c == '"') in_quotes = !in_quotes;
      count += !in_quotes && c == candidate;
    }
    if (count > most) {
      most = count;
      best = candidate;
    }
  }
  return best;
}

}  // namespace

CsvScanner::CsvScanner(std::string_view file, std::string_view bytes) : file_(file), bytes_(bytes) {
  skip_blank_lines();
  delimiter_ = delimiter_of(bytes_.substr(at_, bytes_.find('\n', at_) - at_));
}

void CsvScanner::skip_blank_lines() {
  for (size_t end; at_ < bytes_.size(); at_ = end + 1, ++line_) {
    end = std::min(bytes_.find('\n', at_), bytes_.size());
    if (!trimmed(bytes_.substr(at_, end - at_)).empty()) return;
    if (end == bytes_.size()) {
      at_ = end;
      return;
    }
  }
}

bool CsvScanner::next(std::vector<std::string_view>& cells) {
  cells.clear();
  unescaped_.clear();
  skip_blank_lines();
  if (at_ == bytes_.size()) return false;
  record_line_ = line_;
  for (;;) {
    cells.push_back(take_cell());
    if (at_line_end()) break;
    ++at_;  // the delimiter
  }
  if (at_ < bytes_.size()) {
    ++at_;
    ++line_;
  }
  return true;
}

std::string_view CsvScanner::take_cell() {
  size_t begin = at_;
  while (begin < bytes_.size() && bytes_[begin] == ' ') ++begin;
  if (begin < bytes_.size() && bytes_[begin] == '"') {
    at_ = begin + 1;
    return take_quoted();
  }
  begin = at_;
  while (!at_line_end() && bytes_[at_] != delimiter_) ++at_;
  return trimmed(bytes_.substr(begin, at_ - begin));
}

// Behind the opening quote; ends behind the closing quote and the blanks that may follow it.
std::string_view CsvScanner::take_quoted() {
  const Place opened = Place::line(file_, line_);
  std::string& text = unescaped_.emplace_back();
  for (;; ++at_) {
    if (at_ == bytes_.size()) bad_input(opened, "a quoted cell is never closed");
    if (bytes_[at_] == '\n') ++line_;
    if (bytes_[at_] == '"') {
      if (at_ + 1 == bytes_.size() || bytes_[at_ + 1] != '"') break;
      ++at_;
    }
    text += bytes_[at_];
  }
  ++at_;
  while (!at_line_end() && bytes_[at_] != delimiter_) {
    const char c = bytes_[at_++];
    if (c != ' ' && c != '\r') bad_input(Place::line(file_, line_), "text after a closing quote");
  }
  return text;
}

}  // namespace counterpoise
