// SPDX-License-Identifier: Apache-2.0
#include "lengths/place.h"

#include <charconv>
#include <cmath>

#include "counterpoise/lengths.h"
#include "counterpoise/numbers.h"

namespace counterpoise {
namespace {

// The whole cell as a double; false where it is no number. Huge values become infinite.
bool parse_double(std::string_view cell, double& value) {
  const auto [end, status] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
  if (end != cell.data() + cell.size() || cell.empty()) return false;
  if (status == std::errc::result_out_of_range) value = cell.front() == '-' ? -HUGE_VAL : HUGE_VAL;
  return status == std::errc() || status == std::errc::result_out_of_range;
}

}  // namespace

std::string Place::str() const {
  return unit == Unit::kLine ? fmt::format("{}:{}", file, value) : fmt::format("{}: byte {}", file, value);
}

std::string shown(std::string_view text) {
  constexpr size_t kShown = 40;
  if (text.size() <= kShown) return fmt::format("{:?}", text);
  return fmt::format("{:?}...", text.substr(0, kShown));
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r\f\v";
  const size_t begin = text.find_first_not_of(kBlank);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlank) - begin + 1);
}

int64_t checked_length(int64_t value, const Place& place) {
  if (value < 0) bad_input(place, "negative length {}", value);
  if (value > kMaxLength)
    bad_input(place, "length {} is above the limit of {} tokens", value, format_count(kMaxLength));
  return value;
}

int64_t checked_length(double value, const Place& place) {
  if (std::isnan(value)) bad_input(place, "a length is missing (not a number)");
  if (value < 0) bad_input(place, "negative length {}", value);
  if (value > static_cast<double>(kMaxLength))
    bad_input(place, "length {} is above the limit of {} tokens", value, format_count(kMaxLength));
  if (value != std::floor(value)) bad_input(place, "length {} is not a whole number of tokens", value);
  return static_cast<int64_t>(value);
}

int64_t parse_length(std::string_view cell, const Place& place) {
  cell = trimmed(cell);
  int64_t value = 0;
  const auto [end, status] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
  if (status == std::errc() && end == cell.data() + cell.size()) return checked_length(value, place);
  double decimal = 0;
  if (!parse_double(cell, decimal))
    bad_input(place, "{} is not a length (a whole number of tokens, 0 or more)", shown(cell));
  return checked_length(decimal, place);
}

double parse_weight(std::string_view cell, const Place& place) {
  cell = trimmed(cell);
  double value = 0;
  if (!parse_double(cell, value) || !std::isfinite(value))
    bad_input(place, "{} is not a count or weight (a finite number, 0 or more)", shown(cell));
  if (value < 0) bad_input(place, "negative count or weight {}", value);
  return value;
}

}  // namespace counterpoise
