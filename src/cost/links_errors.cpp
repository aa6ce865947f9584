// SPDX-License-Identifier: Apache-2.0
#include <filesystem>

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

}  // namespace

double link_seconds(const std::vector<LinkLevel>& levels, const LinkMeasurement& measurement) {
  return level_of(levels, measurement).seconds(measurement.op, measurement.ranks, measurement.bytes);
}

namespace {

void predict(const std::vector<LinkLevel>& levels, const std::vector<LinkMeasurement>& rows,
             std::vector<double>& predicted, std::vector<double>& measured) {
  for (const LinkMeasurement& one : rows) {
    predicted.push_back(link_seconds(levels, one));
    measured.push_back(one.seconds);
  }
}

ErrorSummary cross_validate_links(const std::vector<LinkMeasurement>& rows, Transport transport) {
  std::vector<double> predicted, measured;
  for (size_t fold = 0; fold < kFolds; ++fold) {
    std::vector<LinkMeasurement> fit, test;
    for (size_t i = 0; i < rows.size(); ++i) (i % kFolds == fold ? test : fit).push_back(rows[i]);
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
  const std::string base = std::filesystem::path(file).filename().string();
  Links links{name, "fitted to " + base, measurements.front().device, "", fit_links(measurements, transport)};
  nlohmann::ordered_json calibration;
  calibration["table"] = base;
  calibration["time"] = {{"rows", measurements.size()},
                         {"fit", error_json(link_errors(links.levels, measurements))}};
  if (measurements.size() >= 2 * kFolds)
    calibration["time"]["cross_validated_5_folds"] =
        error_json(cross_validate_links(measurements, transport));
  links.calibration = calibration.dump();
  return links;
}

}  // namespace counterpoise
