// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>

#include "counterpoise/links.h"

namespace counterpoise {

struct FittedLine {
  LinkLine line;
  double loss;
};

// latency + moved bytes x seconds per byte through these rows, of any collectives: robust, of relative
// errors.
FittedLine fit_line(std::span<const LinkMeasurement* const> rows);

}  // namespace counterpoise
