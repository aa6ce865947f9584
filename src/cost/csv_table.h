// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace counterpoise {

// A text table with a header line; cells separated by ',', '|', ';' or tab, whichever the header holds most
// of, quoted where they hold one (RFC 4180). Lines that begin with '#' and a byte order mark are skipped.
class CsvTable {
 public:
  // Throws kBadInput (file, line, reason) where a row has not as many cells as the header.
  CsvTable(std::string_view text, std::string file);

  bool has(const std::string& column) const { return columns_.contains(column); }
  std::vector<std::string> columns() const { return header_; }
  size_t rows() const { return cells_.size(); }
  // kBadInput with file, line and column where the cell is not what was asked for.
  const std::string& text(size_t row, const std::string& column) const;
  double number(size_t row, const std::string& column) const;    // finite, >= 0
  int64_t integer(size_t row, const std::string& column) const;  // >= 0
  const std::string& file() const { return file_; }
  size_t line(size_t row) const { return lines_[row]; }
  [[noreturn]] void fail(size_t row, const std::string& column, const std::string& reason) const;

 private:
  size_t index(const std::string& column) const;

  std::string file_;
  std::vector<std::string> header_;
  std::map<std::string, size_t> columns_;
  std::set<std::string> ambiguous_;  // columns that the header names more than once
  std::vector<std::vector<std::string>> cells_;
  std::vector<size_t> lines_;
};

}  // namespace counterpoise
