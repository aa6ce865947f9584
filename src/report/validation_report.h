// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "counterpoise/validate.h"

namespace counterpoise {

// What was found; one table of all parts; the errors of other predictors beside ours; then per part its
// split, worst cases and anomalies, of summarised parts where they fail.
std::string validation_text(const std::vector<ValidationPart>& parts);
// The body of schema counterpoise/validate: passed, parts[].
nlohmann::ordered_json validation_json(const std::vector<ValidationPart>& parts);

// Names of the parts above their thresholds; of those that noise leaves undecided.
std::vector<std::string> failed_parts(const std::vector<ValidationPart>& parts);
std::vector<std::string> inconclusive_parts(const std::vector<ValidationPart>& parts);

}  // namespace counterpoise
