// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "cost/json_fields.h"
#include "counterpoise/profile.h"

namespace counterpoise {

// The model object of kind "calls".
ProfilePtr parse_calls(ProfileInfo info, const JsonFields& model);

}  // namespace counterpoise
