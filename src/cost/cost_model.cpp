// SPDX-License-Identifier: Apache-2.0
#include "counterpoise/cost_model.h"

#include <algorithm>
#include <cmath>

#include "cost/call_time.h"
#include "counterpoise/error.h"

namespace counterpoise {
namespace {

bool is_empty(std::span<const WorkShape> tiles) {
  return std::all_of(tiles.begin(), tiles.end(), [](const WorkShape& work) { return work.area == 0; });
}

// Outside the measured box in one of the first `sides` of its sides.
bool outside(const DirectionModel& model, const CallPlace& place, size_t sides) {
  constexpr double kMargin = 0.2;  // powers of two
  for (size_t i = 0; i < sides; ++i)
    if (place[i] < model.measured_low[i] - kMargin || place[i] > model.measured_high[i] + kMargin)
      return true;
  return false;
}

}  // namespace

CallTime call_time(const FeatureVector& features, const FeatureVector& seconds_per, double sharpness) {
  CallTime time;
  for (size_t i = 0; i < kFeatures; ++i)
    (i < kLatencyFeatures ? time.latency : time.work) += features[i] * seconds_per[i];
  const double larger = std::max(time.latency, time.work);
  if (sharpness == 1 || larger == 0) {
    time.total = time.latency + time.work;
    return time;
  }
  // Scaled by the larger part so that no power over- or underflows.
  const double a = time.latency / larger, b = time.work / larger;
  const double sum = std::pow(a, sharpness) + std::pow(b, sharpness);
  time.total = larger * std::pow(sum, 1 / sharpness);
  time.latency_slope = std::pow(a, sharpness - 1) * std::pow(sum, 1 / sharpness - 1);
  time.work_slope = std::pow(b, sharpness - 1) * std::pow(sum, 1 / sharpness - 1);
  return time;
}

double residual_correction(const DirectionModel& model, const CallPlace& place) {
  // Pull towards no correction, in neighbours at distance zero.
  constexpr double kPull = 0.1;
  double weighted = 0, weights = kPull;
  for (const DirectionModel::Residual& residual : model.residuals) {
    double distance = 0;
    for (size_t i = 0; i < place.size(); ++i) {
      const double steps = (place[i] - residual.place[i]) / model.residual_width;
      distance += steps * steps;
    }
    const double weight = std::exp(-distance / 2);
    weighted += weight * residual.log_ratio;
    weights += weight;
  }
  return weighted / weights;
}

double DirectionModel::seconds(std::span<const WorkShape> tiles, int64_t steps) const {
  if (is_empty(tiles)) return 0;
  const double modelled = call_time(call_features(tiles, steps, tile), seconds_per, sharpness).total;
  if (residual_width == 0) return modelled;
  return modelled * std::exp(residual_correction(*this, call_place(tiles)));
}

const DirectionModel& CostModel::model(Direction direction) const {
  if (direction == Direction::kForward) return forward_;
  if (!backward_)
    throw_error(ErrorKind::kUsage, "this profile was fitted to forward only: backward has no price");
  return *backward_;
}

double CostModel::call_seconds(std::span<const WorkShape> tiles, Direction direction, int64_t steps) const {
  CP_CHECK(steps >= 1);
  return model(direction).seconds(tiles, steps);
}

double CostModel::tile_seconds(const WorkShape& tile, Direction direction) const {
  if (tile.area == 0) return 0;
  const DirectionModel& one = model(direction);
  return call_time(call_features({&tile, 1}, 1, one.tile), one.seconds_per, one.sharpness).work;
}

bool CostModel::extrapolated(std::span<const WorkShape> tiles, Direction direction) const {
  return !is_empty(tiles) && outside(model(direction), call_place(tiles), CallPlace{}.size());
}

bool CostModel::tile_extrapolated(const WorkShape& tile, Direction direction) const {
  return tile.area > 0 && outside(model(direction), call_place({&tile, 1}), CallPlace{}.size() - 1);
}

}  // namespace counterpoise
