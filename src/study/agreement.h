// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "counterpoise/study.h"

namespace counterpoise {

// How well the frozen profile, and two naive predictors, price the measured groups of each CP degree.
std::vector<Agreement> agreement(const std::vector<MeasuredCp>& results);

}  // namespace counterpoise
