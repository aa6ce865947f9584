// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <set>

#include "cost/error_json.h"
#include "counterpoise/error.h"
#include "counterpoise/links.h"

namespace counterpoise {
namespace {

constexpr size_t kFolds = 5;

const LinkLevel& level_of(const std::vector<LinkLevel>& levels, const LinkMeasurement& one) {
  const char* wanted = one.nodes > 1 ? "network" : "node";
  for (const LinkLevel& level : levels)
    if (level.name == wanted) return level;
  throw_error(ErrorKind::kUsage, "{}: these links have no level '{}'", one.label, wanted);
}

using CurveKey = std::tuple<bool, Collective, int64_t>;
CurveKey key_of(const LinkMeasurement& one) {
  return {one.nodes > 1, one.op, one.ranks};
}

// The first row whose curve has a single size, which fixes no line; null where there is none.
const LinkMeasurement* lone_size(const std::vector<LinkMeasurement>& rows) {
  std::map<CurveKey, std::set<double>> sizes;
  for (const LinkMeasurement& one : rows) sizes[key_of(one)].insert(one.bytes);
  for (const LinkMeasurement& one : rows)
    if (sizes[key_of(one)].size() < 2) return &one;
  return nullptr;
}

void check_rows(const std::vector<LinkMeasurement>& rows, const std::string& file) {
  constexpr size_t kMostRows = 20000;  // a fit takes seconds up to here
  if (rows.size() > kMostRows)
    throw_error(ErrorKind::kBadInput, "{}: {} rows; {} are fitted at most, keep every {}th", file,
                rows.size(), kMostRows, (rows.size() + kMostRows - 1) / kMostRows);
  if (const LinkMeasurement* one = lone_size(rows))
    throw_error(ErrorKind::kBadInput, "{}: {}: one size fixes no line; at least two are needed", file,
                one->label);
}

}  // namespace

double link_seconds(const std::vector<LinkLevel>& levels, const LinkMeasurement& measurement) {
  return level_of(levels, measurement).seconds(measurement.op, measurement.ranks, measurement.bytes);
}

bool link_extrapolated(const std::vector<LinkLevel>& levels, const LinkMeasurement& measurement) {
  return level_of(levels, measurement).extrapolated(measurement.op, measurement.ranks, measurement.bytes);
}

namespace {

void predict(const std::vector<LinkLevel>& levels, const std::vector<LinkMeasurement>& rows,
             std::vector<double>& predicted, std::vector<double>& measured) {
  for (const LinkMeasurement& one : rows) {
    predicted.push_back(link_seconds(levels, one));
    measured.push_back(one.seconds);
  }
}

// Nothing where a fold takes a curve's rows, or all but one size of them, out of the fit.
std::optional<ErrorSummary> cross_validate_links(const std::vector<LinkMeasurement>& rows,
                                                 Transport transport) {
  std::vector<double> predicted, measured;
  for (size_t fold = 0; fold < kFolds; ++fold) {
    std::vector<LinkMeasurement> fit, test;
    for (size_t i = 0; i < rows.size(); ++i) (i % kFolds == fold ? test : fit).push_back(rows[i]);
    std::set<CurveKey> fitted;
    for (const LinkMeasurement& one : fit) fitted.insert(key_of(one));
    const bool all = std::ranges::all_of(test, [&](const auto& one) { return fitted.contains(key_of(one)); });
    if (!all || lone_size(fit)) return std::nullopt;
    predict(fit_links(fit, transport), test, predicted, measured);
  }
  return summarise_errors(predicted, measured);
}

}  // namespace

ErrorSummary link_errors(const std::vector<LinkLevel>& levels,
                         const std::vector<LinkMeasurement>& measurements) {
  std::vector<double> predicted, measured;
  predict(levels, measurements, predicted, measured);
  return summarise_errors(predicted, measured);
}

Links links_of_table(const std::vector<LinkMeasurement>& measurements, const std::string& file,
                     const std::string& name, Transport transport) {
  check_rows(measurements, file);
  const std::string base = std::filesystem::path(file).filename().string();
  Links links{name, "fitted to " + base, measurements.front().device, "", fit_links(measurements, transport)};
  nlohmann::ordered_json calibration;
  calibration["table"] = base;
  calibration["time"] = {{"rows", measurements.size()},
                         {"fit", error_json(link_errors(links.levels, measurements))}};
  if (const auto others = cross_validate_links(measurements, transport))
    calibration["time"]["cross_validated_5_folds"] = error_json(*others);
  links.calibration = calibration.dump();
  return links;
}

}  // namespace counterpoise
