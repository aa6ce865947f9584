// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

namespace counterpoise {

// "2026-01-31", UTC.
std::string today();

}  // namespace counterpoise
