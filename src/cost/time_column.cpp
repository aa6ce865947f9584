// SPDX-License-Identifier: Apache-2.0
#include "cost/time_column.h"

#include <algorithm>
#include <cctype>
#include <optional>

#include "counterpoise/error.h"

namespace counterpoise {
namespace {

constexpr double kLeast = 1e-10, kMost = 86400;  // seconds

struct Unit {
  const char* name;
  double seconds;
};
constexpr Unit kUnits[] = {{"ns", 1e-9},
                           {"nsec", 1e-9},
                           {"nanoseconds", 1e-9},
                           {"us", 1e-6},
                           {"usec", 1e-6},
                           {"\u00b5s", 1e-6},
                           {"\u03bcs", 1e-6},
                           {"microseconds", 1e-6},
                           {"ms", 1e-3},
                           {"msec", 1e-3},
                           {"s", 1},
                           {"sec", 1},
                           {"secs", 1},
                           {"seconds", 1},
                           {"milliseconds", 1e-3}};

std::optional<double> unit_called(std::string name) {
  for (char& c : name) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  for (const Unit& unit : kUnits)
    if (name == unit.name) return unit.seconds;
  return std::nullopt;
}

[[noreturn]] void unknown_unit(const CsvTable& table, const std::string& given, const std::string& unit) {
  throw_error(ErrorKind::kBadInput,
              "{}: column {}: '{}' is not a unit of time; NAME:UNIT takes ns, us, ms, s", table.file(), given,
              unit);
}

// "(us)" or "[us]" at the end of a name; empty where there is none.
std::string bracketed(const std::string& name) {
  if (!name.ends_with(')') && !name.ends_with(']')) return "";
  const size_t open = name.find_last_of("([");
  return open == std::string::npos ? "" : name.substr(open + 1, name.size() - open - 2);
}

double unit_of_name(const CsvTable& table, const std::string& name) {
  if (const std::string unit = bracketed(name); !unit.empty()) {
    if (const auto seconds = unit_called(unit)) return *seconds;
    unknown_unit(table, name, unit);
  }
  for (const char separator : {'_', ':'})
    if (const size_t at = name.find_last_of(separator); at != std::string::npos)
      if (const auto seconds = unit_called(name.substr(at + 1))) return *seconds;
  return 1;
}

}  // namespace

TimeColumn time_column(const CsvTable& table, const std::string& given) {
  if (table.has(given)) return {given, unit_of_name(table, given)};
  const size_t colon = given.find_last_of(':');
  if (colon == std::string::npos || !table.has(given.substr(0, colon))) return {given, 1};
  const auto seconds = unit_called(given.substr(colon + 1));
  if (!seconds) unknown_unit(table, given, given.substr(colon + 1));
  return {given.substr(0, colon), *seconds};
}

double read_seconds(const CsvTable& table, size_t row, const TimeColumn& column) {
  const double value = table.number(row, column.name), seconds = value * column.unit;
  if (value == 0) table.fail(row, column.name, "a measured time must be above zero");
  if (seconds < kLeast || seconds > kMost)
    table.fail(
        row, column.name,
        fmt::format("{} is {:g} seconds, which no call takes; NAME:UNIT gives the unit (ns, us, ms, s)",
                    table.text(row, column.name), seconds));
  return seconds;
}

}  // namespace counterpoise
