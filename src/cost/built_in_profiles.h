// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "counterpoise/profile.h"

namespace counterpoise {

// The built-in profile of that name, or null.
ProfilePtr built_in_profile(const std::string& name);

}  // namespace counterpoise
