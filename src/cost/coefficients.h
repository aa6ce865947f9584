// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>
#include <vector>

#include "counterpoise/cost_model.h"

namespace counterpoise {

struct FeatureRows {
  std::vector<FeatureVector> features;
  std::vector<double> seconds;
};

struct FittedCoefficients {
  FeatureVector seconds_per{};
  double loss = 0;  // summed pseudo-Huber loss of ln(modelled / measured)
};

// Non-negative coefficients of the enabled features (see DirectionModel for `sharpness`).
FittedCoefficients fit_coefficients(const FeatureRows& rows, double sharpness,
                                    std::span<const Feature> enabled);

}  // namespace counterpoise
