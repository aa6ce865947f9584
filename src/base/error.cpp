// SPDX-License-Identifier: Apache-2.0
#include "counterpoise/error.h"

namespace counterpoise {

void invariant_failed(const char* condition, const char* file, int line) {
  throw std::logic_error(fmt::format("broken invariant at {}:{}: {}", file, line, condition));
}

}  // namespace counterpoise
