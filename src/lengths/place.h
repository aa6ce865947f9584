// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "counterpoise/error.h"

namespace counterpoise {

// Where in a file something was read; cheap to make for every value, spelled out only in an error.
struct Place {
  enum class Unit { kLine, kByte };
  std::string_view file;
  Unit unit = Unit::kLine;
  int64_t value = 0;

  static Place line(std::string_view file, int64_t number) { return {file, Unit::kLine, number}; }  // from 1
  static Place byte(std::string_view file, int64_t offset) { return {file, Unit::kByte, offset}; }  // from 0

  // "lengths.txt:17" or "corpus.idx: byte 34".
  std::string str() const;
};

// Throws kBadInput "<place>: <reason>".
template <typename... Args>
[[noreturn]] void bad_input(const Place& place, fmt::format_string<Args...> format, Args&&... args) {
  throw Error(ErrorKind::kBadInput, place.str() + ": " + fmt::format(format, std::forward<Args>(args)...));
}

// Text of the user's for an error: in quotes, unprintable bytes escaped, cut after some 40 bytes.
std::string shown(std::string_view text);

std::string_view trimmed(std::string_view text);

// A document length out of a text cell: digits, or a decimal whose value is whole ("2048.0", as data
// frames write integers). Refuses empty, negative, fractional and too large cells with the reason.
int64_t parse_length(std::string_view cell, const Place& place);
// The same checks for a value that was read as a number.
int64_t checked_length(int64_t value, const Place& place);
int64_t checked_length(double value, const Place& place);

// A count or a probability mass: finite, not negative.
double parse_weight(std::string_view cell, const Place& place);

}  // namespace counterpoise
