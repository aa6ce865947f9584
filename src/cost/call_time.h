// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "counterpoise/cost_model.h"

namespace counterpoise {

// The first features (launch, step, longest) make up the latency of a call, the others its work.
constexpr size_t kLatencyFeatures = 3;

// total = (latency^s + work^s)^(1/s), and its slopes in the two.
struct CallTime {
  double latency = 0, work = 0, total = 0;
  double latency_slope = 1, work_slope = 1;
};
CallTime call_time(const FeatureVector& features, const FeatureVector& seconds_per, double sharpness);

// ln(measured / modelled) to be expected at `place` from the residuals of the fit.
double residual_correction(const DirectionModel& model, const CallPlace& place);

}  // namespace counterpoise
