// SPDX-License-Identifier: Apache-2.0
#include "exec/dates.h"

#include <ctime>

namespace counterpoise {

std::string today() {
  const std::time_t now = std::time(nullptr);
  std::tm date{};
  gmtime_r(&now, &date);
  char text[16];
  std::strftime(text, sizeof text, "%Y-%m-%d", &date);
  return text;
}

}  // namespace counterpoise
