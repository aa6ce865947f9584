// SPDX-License-Identifier: Apache-2.0
#include "cost/validation_rows.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "counterpoise/error.h"

namespace counterpoise {
namespace {

constexpr size_t kWorstShown = 5;
constexpr double kAnomaly = 0.4054651081;  // ln 1.5: off by half

const Measurement& side(const AttentionRow& row, Direction direction) {
  return direction == Direction::kForward ? row.forward : row.backward;
}

// Seconds over tokens, per (cp, heads).
using Curve = std::map<int64_t, double>;
using Curves = std::map<std::pair<int64_t, int64_t>, Curve>;

double interpolate_log(const Curve& curve, int64_t tokens) {
  CP_CHECK(curve.size() >= 2);
  auto high = curve.lower_bound(tokens);
  if (high == curve.end()) --high;
  if (high == curve.begin()) ++high;
  const auto low = std::prev(high);
  const double part = std::log(static_cast<double>(tokens) / static_cast<double>(low->first)) /
                      std::log(static_cast<double>(high->first) / static_cast<double>(low->first));
  return low->second * std::pow(high->second / low->second, part);
}

double case_error(const ValidationCase& one, bool difference) {
  return std::abs(difference ? one.predicted - one.measured : one.predicted / one.measured - 1);
}

}  // namespace

std::vector<Measurement> measurements_of(const std::vector<const AttentionRow*>& rows, Direction direction) {
  std::vector<Measurement> all;
  for (const AttentionRow* row : rows) all.push_back(side(*row, direction));
  return all;
}

std::vector<NaiveInput> naive_inputs(const std::vector<const AttentionRow*>& rows, Direction direction) {
  std::vector<NaiveInput> all;
  for (const AttentionRow* row : rows) {
    const Measurement& call = side(*row, direction);
    const double heads = static_cast<double>(call.tiles.front().shape.heads);
    // A row that names its shard by q and kv rows alone counts as a document of its q rows.
    const double length = static_cast<double>(row->tokens > 0 ? row->tokens : call.tiles.front().q_rows);
    const double documents = heads * static_cast<double>(row->documents);
    all.push_back(
        {documents * length, documents * length * length, static_cast<double>(row->cp), call.seconds});
  }
  return all;
}

double ValidationPart::error_of(const ValidationCase& one) const {
  return case_error(one, differences);
}

bool ValidationPart::passed() const {
  const auto within = [](const std::optional<double>& most, double error) { return !most || error <= *most; };
  return within(most_median, test.median) && within(most_p90, test.p90) && within(most_worst, test.worst) &&
         within(most_deviation, worst_deviation.value_or(0));
}

std::vector<ValidationCase> worst_cases(std::vector<ValidationCase> cases, size_t count, bool differences) {
  const auto error = [&](const ValidationCase& one) { return case_error(one, differences); };
  std::stable_sort(cases.begin(), cases.end(),
                   [&](const auto& a, const auto& b) { return error(a) > error(b); });
  cases.resize(std::min(cases.size(), count));
  return cases;
}

void compare_split(ValidationPart& part, const TableSplit& split, Direction direction,
                   const DirectionModel& model) {
  const std::vector<Measurement> test = measurements_of(split.test, direction);
  part.fit = model_errors(model, measurements_of(split.fit, direction));
  part.test = model_errors(model, test);
  part.naive = naive_errors(naive_inputs(split.fit, direction), naive_inputs(split.test, direction));
  std::vector<ValidationCase> cases;
  for (const Measurement& one : test)
    cases.push_back({one.label, one.seconds, model.seconds(one.tiles, one.steps)});
  part.worst = worst_cases(std::move(cases), kWorstShown);
}

void list_anomalies(ValidationPart& part, const AttentionTable& table, Direction direction,
                    const FitOptions& options) {
  FitOptions smooth = options;
  smooth.keep_residuals = false;
  const std::vector<Measurement> rows = table.measurements(direction);
  const DirectionModel model = fit_direction(rows, smooth);
  std::vector<ValidationCase> far;
  for (const Measurement& row : rows) {
    const double modelled = model.seconds(row.tiles, row.steps);
    if (std::abs(std::log(modelled / row.seconds)) > kAnomaly)
      far.push_back({row.label, row.seconds, modelled});
  }
  part.anomalies = worst_cases(std::move(far), rows.size());
}

ErrorSummary interpolation_errors(const TableSplit& split, Direction direction) {
  Curves curves;
  const auto key = [](const AttentionRow& row) { return std::pair(row.cp, row.heads / row.tp); };
  for (const AttentionRow* row : split.fit) curves[key(*row)][row->tokens] = side(*row, direction).seconds;
  std::vector<double> predicted, measured;
  for (const AttentionRow* row : split.test) {
    const Curve& curve = curves[key(*row)];
    if (curve.size() < 2) continue;
    predicted.push_back(interpolate_log(curve, row->tokens));
    measured.push_back(side(*row, direction).seconds);
  }
  return summarise_errors(predicted, measured);
}

}  // namespace counterpoise
