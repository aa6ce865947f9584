// SPDX-License-Identifier: Apache-2.0
#include "report/law_report.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "counterpoise/numbers.h"
#include "report/simulation_report.h"
#include "report/text_table.h"

namespace counterpoise {

using nlohmann::ordered_json;

namespace {

std::string setting(const LawRecord& record) {
  const SimulationConfig& c = record.config;
  return fmt::format(
      "The laws of {} windows of {} tokens from {} ({}, {}, windows in {} order), regime {},\n"
      "profile {} ({}), ideal split; nothing is simulated\n",
      format_count(record.sweep.windows), format_size(c.pack.window), record.lengths.source,
      name_of(c.pack.policy), name_of(c.order),
      c.window_order == WindowOrder::kShuffle ? "shuffled" : "stream", name_of(c.regime),
      record.profile.info().name, record.profile.info().source);
}

std::string table_of(const LawSweep& sweep) {
  TextTable table({{"CP"},
                   {"groups"},
                   {"CV"},
                   {"variance ratio"},
                   {"1/CP"},
                   {"slowdown"},
                   {"Gaussian"},
                   {"every window"},
                   {"max/mean"},
                   {"max/min p50"},
                   {"p90"},
                   {"mean"},
                   {"P(< 2)"},
                   {"8 groups"},
                   {"P(< 2)"}});
  for (const LawRow& row : sweep.rows) {
    const Law& law = row.all;
    table.add_row({fmt::format("{}", row.cp), fmt::format("{}", law.groups), fmt::format("{:.3f}", law.cv),
                   number_cell(row.variance_ratio, 3),
                   fmt::format("{:.3f}", 1.0 / static_cast<double>(row.cp)),
                   fmt::format("{:.3f}", law.slowdown), fmt::format("{:.3f}", law.gaussian_slowdown),
                   fmt::format("{:.3f}", law.slowdown_micro_batch), fmt::format("{:.3f}", law.max_over_mean),
                   number_cell(law.max_over_min_p50), number_cell(law.max_over_min_p90),
                   number_cell(law.max_over_min_mean), percent_cell(law.share_below_2),
                   row.fixed ? fmt::format("{:.3f}", row.fixed->slowdown) : "-",
                   row.fixed ? percent_cell(row.fixed->share_below_2) : "-"});
  }
  return table.str();
}

ordered_json law_object(const Law& law) {
  return {{"windows_per_group", law.windows},
          {"groups", law.groups},
          {"mean", law.mean},
          {"variance", law.variance},
          {"cv", law.cv},
          {"within_step_variance", law.within_step_variance},
          {"effective_windows", law.effective_windows},
          {"slowdown", law.slowdown},
          {"wait_share", law.wait_share},
          {"slowdown_micro_batch", law.slowdown_micro_batch},
          {"gaussian_slowdown", law.gaussian_slowdown},
          {"max_over_mean", {{"mean", law.max_over_mean}}},
          {"max_over_min", max_over_min_json(law.max_over_min_p50, law.max_over_min_p90,
                                             law.max_over_min_mean, law.share_below_2)}};
}

ordered_json first_cp(const LawRow* row) {
  if (!row) return {{"cp", nullptr}, {"groups", nullptr}};
  return {{"cp", row->cp}, {"groups", row->all.groups}};
}

ordered_json answers(const LawRecord& record) {
  ordered_json needs = ordered_json::array();
  for (const LawSweep::Need& need : record.sweep.needs) {
    needs.push_back(
        {{"groups", need.groups},
         {"windows_per_group", need.windows ? ordered_json(*need.windows) : ordered_json(nullptr)}});
  }
  ordered_json slowdown = first_cp(first_within_target(record.sweep, record.target));
  slowdown["target"] = record.target;
  slowdown["needs"] = needs;
  ordered_json balanced = first_cp(first_balanced(record.sweep));
  balanced["at_least"] = kBalancedShare;
  return {{"slowdown", slowdown}, {"share_below_2", balanced}};
}

ordered_json config_object(const LawRecord& record) {
  const SimulationConfig& c = record.config;
  ordered_json json = {
      {"ranks", c.ranks}, {"cp", c.cp}, {"window", c.pack.window}, {"windows", record.sweep.windows}};
  json.update(windows_json(c));
  json["profile"] = profile_json(record.profile);
  json["seed"] = c.seed;
  return json;
}

ordered_json lengths_object(const LawRecord& record) {
  const std::optional<LengthSummary::Tail>& tail = record.summary.tail;
  return {{"source", record.lengths.source},
          {"format", record.lengths.format},
          {"provenance", record.lengths.provenance},
          {"tail_index_of_squares", tail ? ordered_json(tail->squared_index) : ordered_json(nullptr)}};
}

}  // namespace

std::string law_text(const LawRecord& record) {
  std::string text;
  for (const std::string& sentence : law_sentences(record)) text += sentence + "\n";
  text += "\n" + setting(record) + "\n" + table_of(record.sweep) + "\n";
  const std::string account = account_sentence(record.sweep.account);
  if (!account.empty()) text += "Packing: " + account + ".\n";
  return text +
         "slowdown = E[slowest group] / E[mean group], groups meeting once a step or after every window, and "
         "with 8 "
         "groups;\nGaussian = 1 + CV sqrt(2 ln groups); max/mean and "
         "max/min are of one step.\nCommunication is not priced here.\n";
}

ordered_json law_row_json(const LawRow& row) {
  ordered_json object = {{"cp", row.cp}};
  object.update(law_object(row.all));
  object["variance_ratio"] = number_json(row.variance_ratio);
  object["cv2_ratio"] = number_json(row.cv2_ratio);
  object["one_over_cp"] = 1.0 / static_cast<double>(row.cp);
  object["fixed_groups"] = nullptr;
  if (row.fixed) {
    object["fixed_groups"] = law_object(*row.fixed);
    object["fixed_groups"]["variance_ratio"] = number_json(row.fixed_variance_ratio);
  }
  return object;
}

ordered_json law_json(const LawRecord& record) {
  ordered_json results = ordered_json::array();
  for (const LawRow& row : record.sweep.rows) {
    results.push_back(law_row_json(row));
  }
  return {{"config", config_object(record)},
          {"lengths", lengths_object(record)},
          {"results", results},
          {"answers", answers(record)},
          {"sentences", law_sentences(record)}};
}

}  // namespace counterpoise
