// SPDX-License-Identifier: Apache-2.0
#include "cost/table_profile.h"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "cost/error_json.h"
#include "counterpoise/error.h"

namespace counterpoise {
namespace {

constexpr size_t kFolds = 5;
constexpr size_t kMostRows = 20000;  // a fit takes seconds up to here; residuals make it quadratic

// Every fold of the cross-validation leaves as many rows as there are coefficients.
void check_rows(const AttentionTable& table, size_t coefficients) {
  size_t least = coefficients;
  while (least - (least + kFolds - 1) / kFolds < coefficients) ++least;
  if (table.rows.size() < least)
    throw_error(ErrorKind::kBadInput,
                "{}: {} rows; a fit of {} coefficients and its cross-validation take {} at least", table.file,
                table.rows.size(), coefficients, least);
  if (table.rows.size() > kMostRows)
    throw_error(ErrorKind::kBadInput, "{}: {} rows; {} are fitted at most, keep every {}th", table.file,
                table.rows.size(), kMostRows, (table.rows.size() + kMostRows - 1) / kMostRows);
}

DirectionModel fit_one(const AttentionTable& table, Direction direction, KeepResiduals keep,
                       nlohmann::ordered_json& record) {
  const std::vector<Measurement> rows = table.measurements(direction);
  const FitOptions plain = table_fit_options(rows);
  check_rows(table, plain.features.size());
  const FitOptions options = choose_residuals(rows, plain, keep);
  const DirectionModel model = fit_direction(rows, options);
  record = {{"rows", rows.size()},
            {"neighbours_correct", options.keep_residuals},
            {"fit", error_json(model_errors(model, rows))},
            {"cross_validated_5_folds", error_json(cross_validate(rows, options))}};
  return model;
}

CostShape largest_shape(const AttentionTable& table) {
  const auto pairs = [](const AttentionRow& row) {
    return static_cast<double>(row.forward.tiles.front().area) *
           static_cast<double>(row.forward.tiles.front().shape.heads);
  };
  const auto largest = std::max_element(table.rows.begin(), table.rows.end(),
                                        [&](const auto& a, const auto& b) { return pairs(a) < pairs(b); });
  return largest->forward.tiles.front().shape;
}

}  // namespace

FitOptions table_fit_options(std::span<const Measurement> measurements) {
  FitOptions options;
  options.features = {Feature::kLaunch,   Feature::kLongest,  Feature::kGroup,
                      Feature::kBlockDim, Feature::kQueryRow, Feature::kKeyRow};
  if (std::any_of(measurements.begin(), measurements.end(), [](const auto& one) { return one.steps > 1; }))
    options.features.push_back(Feature::kStep);
  for (const int64_t q : {64, 128, 256})
    for (const int64_t kv : {64, 128}) options.tiles.push_back({q, kv});
  options.sharpness = {1, 1.5, 2, 4};
  return options;
}

FitOptions choose_residuals(std::span<const Measurement> measurements, FitOptions options,
                            KeepResiduals keep) {
  options.keep_residuals = keep == KeepResiduals::kAlways;
  if (keep != KeepResiduals::kWhenBetter) return options;
  FitOptions with = options;
  with.keep_residuals = true;
  if (cross_validate(measurements, with).median < 0.9 * cross_validate(measurements, options).median)
    return with;
  return options;
}

KernelProfilePtr fit_table(const AttentionTable& table, const std::string& name, KeepResiduals keep) {
  if (!table.has_forward) throw_error(ErrorKind::kBadInput, "{}: has no forward times", table.file);
  nlohmann::ordered_json calibration;
  const std::string file = std::filesystem::path(table.file).filename().string();
  calibration["table"] = file;
  DirectionModel forward = fit_one(table, Direction::kForward, keep, calibration["forward"]);
  std::optional<DirectionModel> backward;
  if (table.has_backward) backward = fit_one(table, Direction::kBackward, keep, calibration["backward"]);
  ProfileInfo info{name,
                   "fitted to " + file,
                   "seconds",
                   table.device,
                   "attention as timed in " + file,
                   calibration.dump()};
  return std::make_shared<KernelProfile>(std::move(info), CostModel(std::move(forward), std::move(backward)),
                                         largest_shape(table));
}

}  // namespace counterpoise
