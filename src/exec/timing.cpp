// SPDX-License-Identifier: Apache-2.0
#include "exec/timing.h"

#include <algorithm>
#include <chrono>

#include "counterpoise/error.h"

namespace counterpoise {

double wall_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double median_of(std::vector<double> values) {
  CP_CHECK(!values.empty());
  std::sort(values.begin(), values.end());
  const size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

}  // namespace counterpoise
