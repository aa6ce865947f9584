// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "counterpoise/cost_model.h"
#include "counterpoise/error.h"

namespace counterpoise {

double sorted_quantile(std::span<const double> sorted, double q) {
  CP_CHECK(!sorted.empty() && q >= 0 && q <= 1);
  const double place = q * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<size_t>(place);
  const size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (place - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

ErrorSummary summarise_errors(std::span<const double> predicted, std::span<const double> measured) {
  CP_CHECK(predicted.size() == measured.size());
  std::vector<double> errors;
  for (size_t i = 0; i < measured.size(); ++i) errors.push_back(std::abs(predicted[i] / measured[i] - 1));
  return summarise_errors(std::move(errors));
}

ErrorSummary summarise_errors(std::vector<double> errors) {
  if (errors.empty()) return {};
  std::sort(errors.begin(), errors.end());
  return {static_cast<int64_t>(errors.size()), sorted_quantile(errors, 0.5), sorted_quantile(errors, 0.9),
          errors.back()};
}

ErrorSummary model_errors(const DirectionModel& model, std::span<const Measurement> measurements) {
  std::vector<double> predicted, measured;
  for (const Measurement& one : measurements) {
    predicted.push_back(model.seconds(one.tiles, one.steps));
    measured.push_back(one.seconds);
  }
  return summarise_errors(predicted, measured);
}

ErrorSummary cross_validate(std::span<const Measurement> measurements, const FitOptions& options, int folds) {
  std::vector<double> predicted, measured;
  for (int fold = 0; fold < folds; ++fold) {
    std::vector<Measurement> fit, test;
    for (size_t i = 0; i < measurements.size(); ++i)
      (static_cast<int>(i % static_cast<size_t>(folds)) == fold ? test : fit).push_back(measurements[i]);
    const DirectionModel model = fit_direction(fit, options);
    for (const Measurement& one : test) {
      predicted.push_back(model.seconds(one.tiles, one.steps));
      measured.push_back(one.seconds);
    }
  }
  return summarise_errors(predicted, measured);
}

}  // namespace counterpoise
