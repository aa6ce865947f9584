// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include "base/files.h"
#include "cost/table_profile.h"
#include "cost/validation_rows.h"
#include "counterpoise/error.h"
#include "counterpoise/links.h"
#include "counterpoise/validate.h"

namespace counterpoise {
namespace {

constexpr size_t kWorstShown = 5;

ValidationPart missing(const std::string& name, const std::string& path) {
  ValidationPart part;
  part.name = name;
  part.unavailable = fmt::format("{} is not there; --data names the folder", path);
  return part;
}

DirectionModel fit_rows(const std::vector<const AttentionRow*>& rows, Direction direction,
                        KeepResiduals keep) {
  const std::vector<Measurement> calls = measurements_of(rows, direction);
  return fit_direction(calls, choose_residuals(calls, table_fit_options(calls), keep));
}

ValidationPart h100_corners(const AttentionTable& table) {
  ValidationPart part;
  part.name = "h100-varlen forward";
  part.split = "fitted on tp, cp in {1, 8}; tested on all other tp, cp";
  const TableSplit split = split_rows(table, [](const AttentionRow& row) {
    return (row.tp == 1 || row.tp == 8) && (row.cp == 1 || row.cp == 8);
  });
  compare_split(part, split, Direction::kForward,
                fit_rows(split.fit, Direction::kForward, KeepResiduals::kNever));
  part.most_median = 0.05;
  part.most_p90 = 0.12;
  return part;
}

ValidationPart h100_extrapolating(const AttentionTable& table) {
  ValidationPart part;
  part.name = "h100-varlen forward, extrapolating";
  part.split = "fitted on tp = 1, cp in {1, 4}; tested on all other tp, cp";
  const TableSplit split =
      split_rows(table, [](const AttentionRow& row) { return row.tp == 1 && (row.cp == 1 || row.cp == 4); });
  compare_split(part, split, Direction::kForward,
                fit_rows(split.fit, Direction::kForward, KeepResiduals::kNever));
  return part;
}

// The token counts of the table; every other one, from the smallest, is fitted.
TableSplit every_other_token_count(const AttentionTable& table) {
  std::set<int64_t> counts;
  for (const AttentionRow& row : table.rows) counts.insert(row.tokens);
  return split_rows(table, [&](const AttentionRow& row) {
    return std::distance(counts.begin(), counts.find(row.tokens)) % 2 == 0;
  });
}

ValidationPart a100(const AttentionTable& table, Direction direction) {
  ValidationPart part;
  part.name = direction == Direction::kForward ? "a100 forward" : "a100 backward";
  part.split = "fitted on every other token count from 1K; tested on the others, up to 128K";
  const TableSplit split = every_other_token_count(table);
  compare_split(part, split, direction, fit_rows(split.fit, direction, KeepResiduals::kAlways));
  const ErrorSummary interpolated = interpolation_errors(split, direction);
  part.naive.push_back({"log-log interpolation", interpolated});
  part.most_median = interpolated.median;
  part.most_p90 = interpolated.p90;
  part.note = "thresholds: the errors of log-log interpolation between the nearest fitted rows";
  const std::vector<Measurement> rows = table.measurements(direction);
  list_anomalies(part, table, direction, table_fit_options(rows));
  return part;
}

// Every other row of each collective and group is `first`.
std::pair<std::vector<LinkMeasurement>, std::vector<LinkMeasurement>> halves(
    const std::vector<LinkMeasurement>& rows) {
  std::vector<LinkMeasurement> first, second;
  std::map<std::tuple<bool, Collective, int64_t>, int64_t> seen;
  for (const LinkMeasurement& one : rows)
    (seen[{one.nodes > 1, one.op, one.ranks}]++ % 2 == 0 ? first : second).push_back(one);
  return {std::move(first), std::move(second)};
}

void compare_links(ValidationPart& part, const std::vector<LinkLevel>& levels,
                   const std::vector<LinkMeasurement>& naive_fit, const std::vector<LinkMeasurement>& test) {
  part.test = link_errors(levels, test);
  part.naive = naive_link_errors(naive_fit, test);
  std::vector<ValidationCase> cases;
  for (const LinkMeasurement& one : test)
    cases.push_back({one.label, one.seconds, link_seconds(levels, one)});
  part.worst = worst_cases(std::move(cases), kWorstShown);
}

ValidationPart links(const std::string& name, const std::string& path) {
  ValidationPart part;
  part.name = name;
  part.split = "fitted on every other size of each collective and group; tested on the others";
  const auto [fit, test] = halves(read_link_table(path));
  const std::vector<LinkLevel> levels = fit_links(fit);
  part.fit = link_errors(levels, fit);
  compare_links(part, levels, fit, test);
  part.most_median = 0.05;
  part.most_p90 = 0.20;
  return part;
}

ValidationPart validate_links(const Links& given, const CsvTable& table) {
  const std::vector<LinkMeasurement> rows = read_link_table(table);
  ValidationPart part;
  part.name = "links " + given.name;
  part.split = fmt::format("links {} on every row of {}; naive predictors fitted to every other row",
                           given.name, table.file());
  for (const LinkMeasurement& one : rows) part.extrapolated += link_extrapolated(given.levels, one);
  compare_links(part, given.levels, halves(rows).first, rows);
  return part;
}

std::vector<ValidationPart> validate_profile(const KernelProfile& profile, const AttentionTable& table) {
  const TableSplit split = split_rows(table, [n = 0](const AttentionRow&) mutable { return n++ % 2 == 0; });
  const TableSplit all = split_rows(table, [](const AttentionRow&) { return false; });
  std::vector<ValidationPart> parts;
  for (const Direction direction : {Direction::kForward, Direction::kBackward}) {
    const bool forward = direction == Direction::kForward;
    if (!(forward ? table.has_forward : table.has_backward)) continue;
    ValidationPart& part = parts.emplace_back();
    part.name = fmt::format("{} {}", profile.info().name, forward ? "forward" : "backward");
    part.split = fmt::format("profile {} on every row of {}; naive predictors fitted to every other row",
                             profile_hash(profile), table.file);
    if (!forward && !profile.model().has_backward()) {
      part.unavailable = "the profile has no backward";
      continue;
    }
    for (const Measurement& one : table.measurements(direction))
      part.extrapolated += profile.model().extrapolated(one.tiles, direction);
    compare_split(part, all, direction, profile.model().model(direction));
    part.naive = naive_errors(naive_inputs(split.fit, direction), naive_inputs(all.test, direction));
  }
  return parts;
}

}  // namespace

std::vector<ValidationPart> validate_tables(const std::string& data_folder) {
  const std::string folder = data_folder + "/calibration/";
  const auto there = [](const std::string& path) { return std::filesystem::exists(path); };
  std::vector<ValidationPart> parts;
  const std::string h100 = folder + "h100_varlen_causal_forward.psv";
  if (there(h100)) {
    const AttentionTable table = read_attention_table(h100);
    parts.push_back(h100_corners(table));
    parts.push_back(h100_extrapolating(table));
  } else {
    parts.push_back(missing("h100-varlen forward", h100));
  }
  const std::string a100_path = folder + "a100_attention_forward_backward.csv";
  if (there(a100_path)) {
    const AttentionTable table = read_attention_table(a100_path);
    parts.push_back(a100(table, Direction::kForward));
    parts.push_back(a100(table, Direction::kBackward));
  } else {
    parts.push_back(missing("a100", a100_path));
  }
  for (const auto& [name, file] : {std::pair{"h200 collectives", "h200_nccl_8gpu_node.csv"},
                                   std::pair{"h100 send/recv", "h100_sendrecv.csv"}})
    parts.push_back(there(folder + file) ? links(name, folder + file) : missing(name, folder + file));
  return parts;
}

std::vector<ValidationPart> validate_table(const std::string& profile, const std::string& table_path,
                                           const std::vector<std::string>& columns) {
  TableColumns named;
  for (const std::string& assignment : columns) add_column(named, assignment);
  const CsvTable table(read_file(table_path), table_path);
  if (!named.empty() || !is_link_table(table))
    return validate_profile(*load_kernel_profile(profile), read_attention_table(table, named));
  return {validate_links(load_links(profile), table)};
}

}  // namespace counterpoise
