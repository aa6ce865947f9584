// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

#include "counterpoise/cost_model.h"
#include "counterpoise/profile.h"
#include "counterpoise/validate.h"
#include "exec/repeated_timings.h"

namespace counterpoise {

// One thing that was timed again and again, and what it was predicted to take.
struct Trial {
  std::string label;
  NaiveInput naive;
  double predicted = 0;
  CallTime measured;

  // Adds a call that was run at least twice.
  void add(const CallTime& time);
};

// How far measurements differ that should not: the median over the trials. A perfect prediction would look
// about as wrong as that.
double repeat_noise(const std::vector<Trial>& trials);

// Predicted against measured. Naive predictors are fitted to every other trial and tested on the rest.
ValidationPart compare_trials(const std::string& name, const std::string& split, std::vector<Trial>& trials);

// Which profile of which kernel on which CPU prices the trials.
std::string profile_sentence(const Profile& profile);

// How much slower the core was than in the calibration, as a share of the time a reference call takes.
void add_drift(ValidationPart& part, double drift);

}  // namespace counterpoise
