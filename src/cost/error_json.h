// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <nlohmann/json.hpp>

#include "counterpoise/cost_model.h"

namespace counterpoise {

inline nlohmann::ordered_json error_json(const ErrorSummary& error) {
  return {{"rows", error.rows}, {"median", error.median}, {"p90", error.p90}, {"worst", error.worst}};
}

}  // namespace counterpoise
