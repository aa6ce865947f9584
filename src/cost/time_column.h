// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "cost/csv_table.h"

namespace counterpoise {

// A column of measured times and the seconds that its unit stands for.
struct TimeColumn {
  std::string name;
  double unit = 1;
};

// The unit is part of the name, "fwd(us)", "time_ms", or given behind a colon, "elapsed:ms"; a name without
// one means seconds. kBadInput where a unit is given that is none.
TimeColumn time_column(const CsvTable& table, const std::string& given);

// kBadInput where the cell is no time that a call or a message can take: 0.1 ns up to a day.
double read_seconds(const CsvTable& table, size_t row, const TimeColumn& column);

}  // namespace counterpoise
