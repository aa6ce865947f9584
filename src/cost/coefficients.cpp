// SPDX-License-Identifier: Apache-2.0
#include "cost/coefficients.h"

#include <cmath>

#include "cost/call_time.h"
#include "cost/nnls.h"

namespace counterpoise {
namespace {

constexpr int kRounds = 60;
constexpr double kHuber = 0.05;  // relative error beyond which a row counts linearly, not squared

// Pseudo-Huber loss of ln(modelled / measured).
double loss(double log_ratio) {
  return std::sqrt(1 + log_ratio * log_ratio / (kHuber * kHuber)) - 1;
}

double total_loss(const FeatureRows& rows, const FeatureVector& seconds_per, double sharpness) {
  double sum = 0;
  for (size_t r = 0; r < rows.seconds.size(); ++r) {
    const double modelled = call_time(rows.features[r], seconds_per, sharpness).total;
    sum += modelled > 0 ? loss(std::log(modelled / rows.seconds[r])) : 1e6;
  }
  return sum;
}

// One Gauss-Newton step. time is homogeneous of degree one in the coefficients, so its linearisation at
// `now` is sum_i slope_i c_i without a constant: a non-negative least-squares problem for the new c.
FeatureVector linear_step(const FeatureRows& rows, const FeatureVector& now, double sharpness,
                          std::span<const Feature> enabled) {
  std::vector<std::vector<double>> system;
  std::vector<double> right;
  for (size_t r = 0; r < rows.seconds.size(); ++r) {
    const CallTime time = call_time(rows.features[r], now, sharpness);
    const double off = std::log(time.total / rows.seconds[r]) / kHuber;
    const double weight = 1 / std::sqrt(std::sqrt(1 + off * off));
    std::vector<double> row;
    for (const Feature feature : enabled) {
      const auto i = static_cast<size_t>(feature);
      const double slope = i < kLatencyFeatures ? time.latency_slope : time.work_slope;
      row.push_back(rows.features[r][i] * slope / rows.seconds[r] * weight);
    }
    system.push_back(std::move(row));
    right.push_back(weight);
  }
  const std::vector<double> solution = nonnegative_least_squares(system, right);
  FeatureVector next{};
  for (size_t k = 0; k < enabled.size(); ++k) next[static_cast<size_t>(enabled[k])] = solution[k];
  return next;
}

// Every enabled feature explains an equal part of a typical row: a start from which no slope is zero.
FeatureVector start(const FeatureRows& rows, std::span<const Feature> enabled) {
  FeatureVector seconds_per{};
  for (const Feature feature : enabled) {
    const auto i = static_cast<size_t>(feature);
    double sum = 0;
    for (size_t r = 0; r < rows.seconds.size(); ++r) sum += rows.features[r][i] / rows.seconds[r];
    if (sum > 0)
      seconds_per[i] = static_cast<double>(rows.seconds.size()) / sum / static_cast<double>(enabled.size());
  }
  return seconds_per;
}

}  // namespace

// Damped Gauss-Newton: a step that does not lower the loss is halved.
FittedCoefficients fit_coefficients(const FeatureRows& rows, double sharpness,
                                    std::span<const Feature> enabled) {
  FittedCoefficients best{start(rows, enabled), 0};
  best.loss = total_loss(rows, best.seconds_per, sharpness);
  for (int round = 0; round < kRounds; ++round) {
    const FeatureVector target = linear_step(rows, best.seconds_per, sharpness, enabled);
    bool better = false;
    double gained = 0;
    for (double step = 1; step > 1e-3 && !better; step /= 2) {
      FeatureVector trial{};
      for (size_t i = 0; i < kFeatures; ++i)
        trial[i] = best.seconds_per[i] + step * (target[i] - best.seconds_per[i]);
      const double trial_loss = total_loss(rows, trial, sharpness);
      better = trial_loss < best.loss;
      if (!better) continue;
      gained = best.loss - trial_loss;
      best = {trial, trial_loss};
    }
    if (!better || gained < 1e-9 * best.loss) break;
  }
  return best;
}

}  // namespace counterpoise
