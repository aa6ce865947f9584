// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "counterpoise/kernel_profile.h"
#include "counterpoise/links.h"

namespace counterpoise {

// A fitted profile for people: source, errors of fit and cross-validation, coefficients.
std::string calibration_text(const KernelProfile& profile);
// The same as the body of schema counterpoise/calibrate; the profile itself is under "profile".
nlohmann::ordered_json calibration_json(const KernelProfile& profile);

std::string links_report_text(const Links& links);
nlohmann::ordered_json links_report_json(const Links& links);

// "4.5 %".
std::string error_cell(double relative_error);

}  // namespace counterpoise
