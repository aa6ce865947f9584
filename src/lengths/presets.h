// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string_view>
#include <vector>

#include "counterpoise/lengths.h"

namespace counterpoise {

// The distribution of a built-in table. Throws kUsage listing the presets where there is none of that name.
Lengths preset_lengths(std::string_view name);

}  // namespace counterpoise
