// SPDX-License-Identifier: Apache-2.0
#include "exec/validation_trials.h"

#include <algorithm>
#include <cmath>

#include "cost/validation_rows.h"
#include "counterpoise/error.h"
#include "exec/timing.h"

namespace counterpoise {
namespace {

constexpr size_t kWorstShown = 5;

double mean(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

double r_squared(const std::vector<double>& predicted, const std::vector<double>& measured) {
  const double centre = mean(measured);
  double residual = 0, spread = 0;
  for (size_t i = 0; i < measured.size(); ++i) {
    residual += std::pow(predicted[i] - measured[i], 2);
    spread += std::pow(measured[i] - centre, 2);
  }
  return spread > 0 ? 1 - residual / spread : 0;
}

}  // namespace

void Trial::add(const CallTime& time) {
  CP_CHECK(time.runs >= 2);
  measured += time;
}

double repeat_noise(const std::vector<Trial>& trials) {
  std::vector<double> differences;
  for (const Trial& trial : trials) differences.push_back(trial.measured.difference());
  return median_of(differences);
}

ValidationPart compare_trials(const std::string& name, const std::string& split, std::vector<Trial>& trials) {
  ValidationPart part;
  part.name = name;
  part.split = split;
  std::vector<double> predicted, measured;
  std::vector<NaiveInput> fit, test;
  std::vector<ValidationCase> cases;
  for (size_t i = 0; i < trials.size(); ++i) {
    Trial& trial = trials[i];
    trial.naive.seconds = trial.measured.seconds;
    (i % 2 == 0 ? fit : test).push_back(trial.naive);
    predicted.push_back(trial.predicted);
    measured.push_back(trial.naive.seconds);
    cases.push_back({trial.label, trial.naive.seconds, trial.predicted});
  }
  part.test = summarise_errors(predicted, measured);
  part.naive = naive_errors(fit, test);
  part.worst = worst_cases(std::move(cases), kWorstShown);
  part.noise = repeat_noise(trials);
  part.note =
      fmt::format("R2 {:.3f}; mean predicted/measured {:.3f}; halves of the runs differ by {:.1f} %",
                  r_squared(predicted, measured), mean(predicted) / mean(measured), 100 * *part.noise);
  return part;
}

std::string profile_sentence(const Profile& profile) {
  return fmt::format("profile {} ({}: {})", profile_hash(profile), profile.info().device,
                     profile.info().kernel);
}

void add_drift(ValidationPart& part, double drift) {
  part.note += fmt::format("; a reference call took {:+.1f} % against the calibration", 100 * drift);
  part.noise = std::max(part.noise.value_or(0), std::abs(drift));
}

}  // namespace counterpoise
