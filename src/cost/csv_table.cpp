// SPDX-License-Identifier: Apache-2.0
#include "cost/csv_table.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "counterpoise/error.h"

namespace counterpoise {
namespace {

std::string_view trim(std::string_view text) {
  const auto blank = [](char c) { return c == ' ' || c == '\r' || c == '\t'; };
  while (!text.empty() && blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && blank(text.back())) text.remove_suffix(1);
  return text;
}

std::vector<std::string> split(std::string_view line, char separator) {
  std::vector<std::string> cells;
  for (size_t end; (end = line.find(separator)) != std::string_view::npos; line.remove_prefix(end + 1))
    cells.emplace_back(trim(line.substr(0, end)));
  cells.emplace_back(trim(line));
  return cells;
}

char separator_of(std::string_view header) {
  char best = ',';
  for (const char candidate : {',', '|', '\t', ';'})
    if (std::count(header.begin(), header.end(), candidate) > std::count(header.begin(), header.end(), best))
      best = candidate;
  return best;
}

}  // namespace

CsvTable::CsvTable(std::string_view text, std::string file) : file_(std::move(file)) {
  char separator = ',';
  for (size_t line = 1; !text.empty(); ++line) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view row = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (trim(row).empty() || row.front() == '#') continue;
    if (header_.empty()) {
      separator = separator_of(row);
      header_ = split(row, separator);
      for (size_t i = 0; i < header_.size(); ++i) columns_.emplace(header_[i], i);
      continue;
    }
    cells_.push_back(split(row, separator));
    lines_.push_back(line);
    if (cells_.back().size() != header_.size())
      throw_error(ErrorKind::kBadInput, "{}:{}: {} cells, the header has {}", file_, line,
                  cells_.back().size(), header_.size());
  }
  if (cells_.empty()) throw_error(ErrorKind::kBadInput, "{}: no rows below a header line", file_);
}

void CsvTable::fail(size_t row, const std::string& column, const std::string& reason) const {
  throw_error(ErrorKind::kBadInput, "{}:{}: column {}: {}", file_, lines_[row], column, reason);
}

size_t CsvTable::index(const std::string& column) const {
  const auto found = columns_.find(column);
  if (found == columns_.end())
    throw_error(ErrorKind::kBadInput, "{}: no column '{}'; there are: {}", file_, column,
                fmt::join(header_, ", "));
  return found->second;
}

const std::string& CsvTable::text(size_t row, const std::string& column) const {
  return cells_[row][index(column)];
}

double CsvTable::number(size_t row, const std::string& column) const {
  const std::string& cell = text(row, column);
  char* end = nullptr;
  const double value = std::strtod(cell.c_str(), &end);
  if (cell.empty() || *end != 0 || !std::isfinite(value) || value < 0)
    fail(row, column, fmt::format("'{}' is not a number of at least zero", cell));
  return value;
}

int64_t CsvTable::integer(size_t row, const std::string& column) const {
  const double value = number(row, column);
  if (value != std::floor(value) || value > 0x1p53)
    fail(row, column, fmt::format("'{}' is not a whole number", text(row, column)));
  return static_cast<int64_t>(value);
}

}  // namespace counterpoise
