// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace counterpoise {

enum class Align { kLeft, kRight };

// Columns that line up in a terminal: a header, a rule, rows, two spaces between columns.
//   TextTable table({{"CP", Align::kRight}, {"variance"}});
//   table.add_row({"8", "0.125"});
//   fmt::print("{}", table.str());
class TextTable {
 public:
  struct Column {
    std::string name;
    Align align = Align::kRight;
  };

  explicit TextTable(std::vector<Column> columns) : columns_(std::move(columns)) {}

  // As many cells as there are columns.
  void add_row(std::vector<std::string> cells);
  // Every line ends in a newline and carries no blanks before it; `indent` blanks lead each line.
  std::string str(size_t indent = 0) const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

// Characters of valid UTF-8 text, which is columns for everything we print.
size_t display_width(std::string_view text);

// A horizontal bar of `share` (0..1) of `width` characters, in eighths of a block.
std::string bar(double share, size_t width);

}  // namespace counterpoise
