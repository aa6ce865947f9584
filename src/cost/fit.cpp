// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>

#include "cost/coefficients.h"
#include "counterpoise/cost_model.h"
#include "counterpoise/error.h"

namespace counterpoise {
namespace {

FeatureRows feature_rows(std::span<const Measurement> measurements, KernelTile tile) {
  FeatureRows rows;
  for (const Measurement& one : measurements) {
    rows.features.push_back(call_features(one.tiles, one.steps, tile));
    rows.seconds.push_back(one.seconds);
  }
  return rows;
}

void check(std::span<const Measurement> measurements, const FitOptions& options) {
  CP_CHECK(!options.features.empty() && !options.tiles.empty() && !options.sharpness.empty());
  if (measurements.size() < options.features.size())
    throw_error(ErrorKind::kBadInput,
                "{} measured calls cannot fix {} coefficients; at least as many are needed",
                measurements.size(), options.features.size());
  for (const Measurement& one : measurements)
    if (!(one.seconds > 0) || !std::isfinite(one.seconds))
      throw_error(ErrorKind::kBadInput, "{}: a measured time must be above zero, is {}", one.label,
                  one.seconds);
}

void keep_places(DirectionModel& model, std::span<const Measurement> measurements) {
  model.measured_low.fill(std::numeric_limits<double>::infinity());
  model.measured_high.fill(-std::numeric_limits<double>::infinity());
  for (const Measurement& one : measurements) {
    const CallPlace place = call_place(one.tiles);
    for (size_t i = 0; i < place.size(); ++i) {
      model.measured_low[i] = std::min(model.measured_low[i], place[i]);
      model.measured_high[i] = std::max(model.measured_high[i], place[i]);
    }
  }
}

void keep_residuals(DirectionModel& model, std::span<const Measurement> measurements, double width) {
  for (const Measurement& one : measurements)
    model.residuals.push_back(
        {call_place(one.tiles), std::log(one.seconds / model.seconds(one.tiles, one.steps))});
  model.residual_width = width;
}

}  // namespace

DirectionModel fit_direction(std::span<const Measurement> measurements, const FitOptions& options) {
  check(measurements, options);
  DirectionModel model;
  double best = std::numeric_limits<double>::infinity();
  for (const KernelTile tile : options.tiles) {
    const FeatureRows rows = feature_rows(measurements, tile);
    for (const double sharpness : options.sharpness) {
      const FittedCoefficients fitted = fit_coefficients(rows, sharpness, options.features);
      if (fitted.loss >= best) continue;
      best = fitted.loss;
      model.tile = tile;
      model.sharpness = sharpness;
      model.seconds_per = fitted.seconds_per;
    }
  }
  keep_places(model, measurements);
  if (options.keep_residuals) keep_residuals(model, measurements, options.residual_width);
  return model;
}

}  // namespace counterpoise
