// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "counterpoise/cost_model.h"
#include "counterpoise/kernel_profile.h"
#include "counterpoise/links.h"

namespace counterpoise {

// One row of a comparison of predictions with measurements.
struct ValidationCase {
  std::string label;
  double measured = 0, predicted = 0;         // in the part's unit
  std::optional<double> standard_error = {};  // of `measured`, where it was drawn
};

// Predictions of one part of the world against measurements that did not make them.
struct ValidationPart {
  std::string name;   // "h100-varlen forward"
  std::string split;  // what was fitted on what and tested on what
  std::string unit = "s";
  std::string unavailable;                // why there is nothing; empty: there is
  bool summarised = false;                // its rows are rows of another part as well
  ErrorSummary fit, test;                 // errors on the rows that were fitted, and on the others
  std::vector<NaiveError> naive;          // other predictors, fitted and tested on the same rows
  std::vector<ValidationCase> worst;      // of the test rows, worst first
  std::vector<ValidationCase> anomalies;  // rows of either part that every smooth model misses, worst first
  std::string note;                       // repeat noise and the like
  bool differences = false;  // errors are |predicted - measured| (of shares), else |predicted / measured - 1|
  std::optional<double> worst_deviation;  // largest error of a drawn row, in its standard errors

  int64_t extrapolated = 0;  // rows outside what a given profile was measured on
  // Thresholds: on `test`, and on worst_deviation.
  std::optional<double> most_median, most_p90, most_worst, most_deviation;

  // Relative; of measurements made here: how far repeats differ, or the machine drifted since the profile was
  // measured, whichever is more.
  std::optional<double> noise;

  double error_of(const ValidationCase& one) const;
  bool judged() const {
    return unavailable.empty() && (most_median || most_p90 || most_worst || most_deviation);
  }
  bool passed() const;
  // Above a threshold, but noise of more than half of it leaves open whether predictions or measurements are
  // to blame.
  bool inconclusive() const {
    return !passed() && noise && *noise > most_median.value_or(most_p90.value_or(0)) / 2;
  }
};

// Parts that compare against published tables under `data_folder`/calibration; a part whose table is absent
// says so.
//   h100-varlen forward: fitted on tp, cp of {1, 8}, tested on all other rows: median <= 5 %, p90 <= 12 %
//   h100-varlen forward, extrapolating: fitted on tp = 1, cp of {1, 4}; no threshold
//   a100 forward, backward: fitted on every other token count; no worse than log-log interpolation between
//     the nearest of the fitted rows of the same cp and heads
//   h200 collectives, h100 send/recv: fitted on every other size; median <= 5 %, p90 <= 20 %
std::vector<ValidationPart> validate_tables(const std::string& data_folder);

// How well a given profile prices a table it may never have seen: fit is empty, naive predictors are fitted
// to even rows and tested, like the profile, on all.
// The table, read once ("-": stdin), may be one of attention calls, with `columns` as ROLE=NAME, or of
// messages and collectives; `profile` is a name or a file of what prices such rows.
std::vector<ValidationPart> validate_table(const std::string& profile, const std::string& table_path,
                                           const std::vector<std::string>& columns);

}  // namespace counterpoise
