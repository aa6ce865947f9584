// SPDX-License-Identifier: Apache-2.0
#include "report/calibration_report.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "counterpoise/numbers.h"
#include "report/text_table.h"

namespace counterpoise {
namespace {

using Json = nlohmann::ordered_json;

std::string errors_line(const std::string& direction, const Json& record) {
  const auto cells = [](const Json& error) {
    return fmt::format("median {}, p90 {}, worst {}", error_cell(error["median"]), error_cell(error["p90"]),
                       error_cell(error["worst"]));
  };
  const bool crossed = record.contains("cross_validated_5_folds");
  return fmt::format(
      "{}: {} calls; fit: {}; {}\n", direction, record["rows"].get<int64_t>(), cells(record["fit"]),
      crossed ? "predicted by the other four fifths: " + cells(record["cross_validated_5_folds"])
              : "too few rows for cross-validation");
}

void add_coefficients(TextTable& table, const std::string& direction, const DirectionModel& model) {
  for (size_t i = 0; i < kFeatures; ++i)
    if (model.seconds_per[i] > 0)
      table.add_row({direction, feature_name(static_cast<Feature>(i)), format_seconds(model.seconds_per[i]),
                     fmt::format("{:.6e}", model.seconds_per[i])});
}

std::string tile_line(const std::string& direction, const DirectionModel& model) {
  return fmt::format("{}: tile {} x {}{}, sharpness {}{}\n", direction, model.tile.q, model.tile.kv,
                     model.tile.kv_block > 0
                         ? fmt::format(" in blocks of {} x {}", model.tile.q_block, model.tile.kv_block)
                         : "",
                     model.sharpness, model.residual_width > 0 ? ", corrected by nearby residuals" : "");
}

std::string bandwidth_cell(double seconds_per_byte) {
  return seconds_per_byte > 0 ? format_si(1 / seconds_per_byte) + "B/s" : "-";
}

// What each byte above those that a cache holds comes to.
std::string beyond_cell(const LinkCurve& curve, const LinkLine& line) {
  if (curve.far_seconds_per_byte <= 0) return "";
  return fmt::format("{} above {}", bandwidth_cell(line.seconds_per_byte + curve.far_seconds_per_byte),
                     format_bytes(curve.near_bytes));
}

// Which messages line `i` prices, where a curve has one for small and one for large.
std::string sizes_cell(const LinkCurve& curve, size_t i) {
  if (curve.lines.size() != 2) return "all";
  const LinkLine &small = curve.lines[0], &large = curve.lines[1];
  const double per_byte = small.seconds_per_byte - large.seconds_per_byte;
  const double moved = (large.latency - small.latency) / per_byte;
  if (!(per_byte > 0) || !(moved > 0)) return "the faster line";
  return fmt::format("{} {}", i == 0 ? "up to" : "above",
                     format_bytes(moved / moved_bytes(curve.op, curve.ranks, 1)));
}

}  // namespace

std::string error_cell(double relative_error) {
  return fmt::format("{:.1f} %", 100 * relative_error);
}

std::string calibration_text(const KernelProfile& profile) {
  const ProfileInfo& info = profile.info();
  std::string text = fmt::format("profile {}: {}\ndevice: {}\nkernel: {}\nhash: {}\n", info.name, info.source,
                                 info.device, info.kernel, profile_hash(profile));
  const Json calibration = Json::parse(info.calibration.empty() ? "{}" : info.calibration);
  TextTable table({{"direction", Align::kLeft}, {"per", Align::kLeft}, {"time"}, {"seconds"}});
  for (const Direction direction : {Direction::kForward, Direction::kBackward}) {
    if (direction == Direction::kBackward && !profile.model().has_backward()) continue;
    const std::string name = direction == Direction::kForward ? "forward" : "backward";
    const DirectionModel& model = profile.model().model(direction);
    if (calibration.contains(name)) text += errors_line(name, calibration[name]);
    text += tile_line(name, model);
    add_coefficients(table, name, model);
  }
  return text + table.str();
}

nlohmann::ordered_json calibration_json(const KernelProfile& profile) {
  return {{"hash", profile_hash(profile)}, {"profile", Json::parse(profile_text(profile))}};
}

std::string links_report_text(const Links& links) {
  std::string text = fmt::format("links {}: {}\ndevice: {}\n", links.name, links.source,
                                 links.device.empty() ? "not named" : links.device);
  if (!links.calibration.empty()) {
    const Json calibration = Json::parse(links.calibration);
    text += errors_line("time", calibration["time"]);
    if (calibration.contains("noise"))
      text += fmt::format("noise: rounds take {} longer than the best one, which counts (median)\n",
                          error_cell(calibration["noise"]));
  }
  TextTable table({{"level", Align::kLeft},
                   {"collective", Align::kLeft},
                   {"ranks"},
                   {"messages", Align::kLeft},
                   {"latency"},
                   {"bandwidth"},
                   {"beyond the cache", Align::kLeft}});
  for (const LinkLevel& level : links.levels)
    for (const LinkCurve& curve : level.curves)
      for (size_t i = 0; i < curve.lines.size(); ++i)
        table.add_row({level.name, collective_name(curve.op), fmt::format("{}", curve.ranks),
                       sizes_cell(curve, i), format_seconds(curve.lines[i].latency),
                       bandwidth_cell(curve.lines[i].seconds_per_byte), beyond_cell(curve, curve.lines[i])});
  return text + table.str();
}

nlohmann::ordered_json links_report_json(const Links& links) {
  return {{"links", Json::parse(links_text(links))}};
}

}  // namespace counterpoise
