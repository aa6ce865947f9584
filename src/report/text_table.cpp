// SPDX-License-Identifier: Apache-2.0
#include "report/text_table.h"

#include <algorithm>
#include <cmath>

#include "counterpoise/error.h"

namespace counterpoise {
namespace {

std::string padded(const std::string& cell, size_t width, Align align) {
  const std::string blanks(width - display_width(cell), ' ');
  return align == Align::kLeft ? cell + blanks : blanks + cell;
}

void trim_right(std::string& text) {
  while (!text.empty() && text.back() == ' ') text.pop_back();
}

}  // namespace

size_t display_width(std::string_view text) {
  // Continuation bytes are 10xxxxxx.
  return static_cast<size_t>(std::count_if(
      text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

std::string bar(double share, size_t width) {
  static constexpr const char* kEighths[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  const double clamped = std::isfinite(share) ? std::clamp(share, 0.0, 1.0) : 0.0;
  const size_t eighths = static_cast<size_t>(std::lround(clamped * static_cast<double>(width) * 8));
  std::string text;
  for (size_t i = 0; i < eighths / 8; ++i) text += "█";
  return text + kEighths[eighths % 8];
}

void TextTable::add_row(std::vector<std::string> cells) {
  CP_CHECK(cells.size() == columns_.size());
  rows_.push_back(std::move(cells));
}

std::string TextTable::str(size_t indent) const {
  std::vector<size_t> widths;
  for (const Column& column : columns_) widths.push_back(display_width(column.name));
  for (const auto& row : rows_)
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], display_width(row[i]));

  std::string text;
  const auto add_line = [&](auto cell_of) {
    std::string line(indent, ' ');
    for (size_t i = 0; i < columns_.size(); ++i)
      line += (i == 0 ? "" : "  ") + padded(cell_of(i), widths[i], columns_[i].align);
    trim_right(line);
    text += line + "\n";
  };
  add_line([&](size_t i) { return columns_[i].name; });
  add_line([&](size_t i) { return std::string(widths[i], '-'); });
  for (const auto& row : rows_) add_line([&](size_t i) { return row[i]; });
  return text;
}

}  // namespace counterpoise
