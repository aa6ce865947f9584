// SPDX-License-Identifier: Apache-2.0
#include "counterpoise/numbers.h"

#include <array>
#include <cctype>
#include <charconv>
#include <cmath>

#include "counterpoise/error.h"

namespace counterpoise {
namespace {

double multiplier(char suffix) {
  switch (std::tolower(static_cast<unsigned char>(suffix))) {
    case 'k':
      return 0x1p10;
    case 'm':
      return 0x1p20;
    case 'g':
      return 0x1p30;
    default:
      return 0;
  }
}

// Value scaled to the largest prefix that keeps it at least 1.
template <size_t N>
std::string scaled(double value, double step, const std::array<const char*, N>& suffixes) {
  size_t i = 0;
  while (i + 1 < N && std::abs(value) >= step * 0.9995) {
    value /= step;
    ++i;
  }
  const double magnitude = std::abs(value);
  const int decimals = i == 0 && value == std::round(value) ? 0
                       : magnitude >= 100                   ? 0
                       : magnitude >= 10                    ? 1
                                                            : 2;
  return fmt::format("{:.{}f}{}", value, decimals, suffixes[i]);
}

}  // namespace

int64_t parse_size(std::string_view text, std::string_view what) {
  std::string digits;
  for (char c : text)
    if (c != '_') digits += c;
  double scale = 1;
  if (!digits.empty() && multiplier(digits.back()) > 0) {
    scale = multiplier(digits.back());
    digits.pop_back();
  }
  double value = 0;
  const auto [end, status] =
      std::from_chars(digits.data(), digits.data() + digits.size(), value, std::chars_format::fixed);
  const bool whole = status == std::errc() && end == digits.data() + digits.size() && !digits.empty();
  const double result = value * scale;
  if (!whole || result < 0 || result != std::floor(result) || result >= 0x1p53)
    throw_error(ErrorKind::kUsage,
                "{}: '{}' is not a size; write a whole number such as 4096, 8k, 128K or 1_000_000", what,
                text);
  return static_cast<int64_t>(result);
}

std::vector<int64_t> parse_size_list(std::string_view text, std::string_view what) {
  std::vector<int64_t> values;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    values.push_back(parse_size(text.substr(begin, end - begin), what));
    begin = end + 1;
  }
  return values;
}

std::string format_size(int64_t value) {
  if (value != 0 && value % (1 << 20) == 0) return fmt::format("{}M", value >> 20);
  if (value != 0 && value % (1 << 10) == 0) return fmt::format("{}K", value >> 10);
  return fmt::format("{}", value);
}

std::string format_count(int64_t value) {
  std::string text = fmt::format("{}", value);
  const int64_t first = value < 0 ? 1 : 0;
  for (int64_t i = static_cast<int64_t>(text.size()) - 3; i > first; i -= 3)
    text.insert(static_cast<size_t>(i), ",");
  return text;
}

std::string format_si(double value) {
  return scaled<5>(value, 1000, {"", "k", "M", "G", "T"});
}

std::string format_seconds(double seconds) {
  if (seconds == 0) return "0 s";
  const double magnitude = std::abs(seconds);
  if (magnitude < 1e-6) return fmt::format("{:.3g} ns", seconds * 1e9);
  if (magnitude < 1e-3) return fmt::format("{:.3g} us", seconds * 1e6);
  if (magnitude < 1) return fmt::format("{:.3g} ms", seconds * 1e3);
  return fmt::format("{:.3g} s", seconds);
}

std::string format_bytes(double bytes) {
  return scaled<5>(bytes, 1024, {" B", " KiB", " MiB", " GiB", " TiB"});
}

}  // namespace counterpoise
