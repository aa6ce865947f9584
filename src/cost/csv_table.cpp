// SPDX-License-Identifier: Apache-2.0
#include "cost/csv_table.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "counterpoise/error.h"
#include "lengths/csv_scanner.h"

namespace counterpoise {
namespace {

constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

// The same lines with comments blank, so that line numbers stay; a lone carriage return ends a line too.
std::string without_comments(std::string_view text) {
  std::string plain(text.substr(text.starts_with(kByteOrderMark) ? kByteOrderMark.size() : 0));
  if (plain.find('\n') == std::string::npos) std::replace(plain.begin(), plain.end(), '\r', '\n');
  for (size_t begin = 0, end; begin < plain.size(); begin = end + 1) {
    end = std::min(plain.find('\n', begin), plain.size());
    if (plain[begin] == '#') std::fill_n(plain.begin() + static_cast<ptrdiff_t>(begin), end - begin, ' ');
  }
  return plain;
}

void require_text(std::string_view text, const std::string& file) {
  if (const size_t nul = text.find('\0'); nul != std::string_view::npos)
    bad_input(Place::byte(file, static_cast<int64_t>(nul)), "a zero byte; a table is text in UTF-8");
}

}  // namespace

CsvTable::CsvTable(std::string_view text, std::string file) : file_(std::move(file)) {
  require_text(text, file_);
  const std::string plain = without_comments(text);
  CsvScanner scanner(file_, plain);
  std::vector<std::string_view> cells;
  if (scanner.next(cells)) header_.assign(cells.begin(), cells.end());
  for (size_t i = 0; i < header_.size(); ++i)
    if (!columns_.emplace(header_[i], i).second) ambiguous_.insert(header_[i]);
  while (scanner.next(cells)) {
    if (cells.size() != header_.size())
      bad_input(scanner.place(), "{} cells, the header has {}", cells.size(), header_.size());
    cells_.emplace_back(cells.begin(), cells.end());
    lines_.push_back(static_cast<size_t>(scanner.place().value));
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
  if (ambiguous_.contains(column))
    throw_error(ErrorKind::kBadInput, "{}: the header names column '{}' twice; rename one", file_, column);
  return found->second;
}

const std::string& CsvTable::text(size_t row, const std::string& column) const {
  return cells_[row][index(column)];
}

double CsvTable::number(size_t row, const std::string& column) const {
  const std::string& cell = text(row, column);
  double value = 0;
  const auto [end, status] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
  if (status != std::errc() || end != cell.data() + cell.size() || !std::isfinite(value) || value < 0)
    fail(row, column, fmt::format("{} is not a number of at least zero", shown(cell)));
  return value;
}

int64_t CsvTable::integer(size_t row, const std::string& column) const {
  const double value = number(row, column);
  if (value != std::floor(value) || value > 0x1p53)
    fail(row, column, fmt::format("{} is not a whole number", shown(text(row, column))));
  return static_cast<int64_t>(value);
}

}  // namespace counterpoise
