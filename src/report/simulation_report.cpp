// SPDX-License-Identifier: Apache-2.0
#include "report/simulation_report.h"

#include <fmt/format.h>

#include "counterpoise/length_summary.h"
#include "counterpoise/numbers.h"
#include "report/law_report.h"
#include "report/split_report.h"
#include "report/text_table.h"

namespace counterpoise {
namespace {

std::string headline(const SimulationRecord& record) {
  const CpResult& first = record.result.results.front();
  const CpResult* last = largest_judged(record.result.results);
  if (!last || !last->all.max_over_min.p50)
    return "Too few groups, or groups without attention work: max/min is not judged.\n";
  std::string text =
      fmt::format("At CP = {} the slowest of {} groups takes {}x the time of the fastest (median step)",
                  last->cp, last->all.groups, number_cell(last->all.max_over_min.p50));
  if (last != &first && first.all.max_over_min.p50)
    text += fmt::format(", at CP = {} with {} groups {}x", first.cp, first.all.groups,
                        number_cell(first.all.max_over_min.p50));
  if (last->variance_ratio)
    text += fmt::format("; variance falls to {:.3f} of CP = 1 (1/CP = {:.3f})", last->variance_ratio->value,
                        1.0 / static_cast<double>(last->cp));
  return text + ".\n";
}

std::string setting(const SimulationRecord& record) {
  const SimulationConfig& c = record.config;
  return fmt::format(
      "{} steps of {} windows of {} tokens from {}\n"
      "packing {}, documents in {} order, windows in {} order, regime {}, groups meet once a {}{}"
      "profile {}: {}\n",
      format_count(record.result.steps), c.ranks, format_size(c.pack.window), record.lengths.source,
      name_of(c.pack.policy), name_of(c.order), name_of(c.window_order), name_of(c.regime),
      c.sync == Sync::kStep ? "step" : "micro-batch",
      c.planned ? "\n" + split_setting(*c.planned) : ", ideal split\n", record.profile.info().name,
      record.profile.info().source);
}

std::string notes(const SimulationRecord& record) {
  std::string text = account_sentence(record.result.results.front().account);
  if (!text.empty()) text = "Packing: " + text + ".\n";
  if (record.result.steps < record.config.steps)
    text += fmt::format("The corpus ended after {} of {} steps.\n", record.result.steps, record.config.steps);
  if (record.result.distinct_steps < static_cast<double>(record.result.steps))
    text += fmt::format(
        "The file was read {:.3g} times: {:.0f} distinct steps; intervals are widened accordingly.\n",
        *record.result.corpus_passes, record.result.distinct_steps);
  const std::string tail = record.config.laws ? tail_sentence(summarise(record.lengths)) : "";
  if (!tail.empty()) text += tail + "\n";
  for (const CpResult& r : record.result.results)
    if (extrapolated(record.profile, record.config, r.cp))
      text += fmt::format("CP = {}: the profile is extrapolated, splitting was not measured there.\n", r.cp);
  for (const CpResult& r : record.result.results)
    if (!r.all.judged() && r.all.groups > 1)
      text +=
          fmt::format("CP = {} leaves {} groups: its max/min is shown but not judged.\n", r.cp, r.all.groups);
  return text;
}

}  // namespace

namespace {

std::string main_table(const SimulationRecord& record) {
  const Sync sync = record.config.sync;
  TextTable table({{"CP"},
                   {"groups"},
                   {"variance ratio"},
                   {"1/CP"},
                   {"law"},
                   {"CV² ratio"},
                   {"max/min"},
                   {"p90"},
                   {"< 2"},
                   {"slowdown"},
                   {"law"},
                   {"wait"},
                   {"", Align::kLeft},
                   {"memory/rank"}});
  for (const CpResult& r : record.result.results) {
    const GroupStatistics& s = r.all;
    const std::optional<double> wait = s.wait_share(sync);
    table.add_row({fmt::format("{}", r.cp), fmt::format("{}", s.groups), estimate_cell(r.variance_ratio),
                   fmt::format("{:.3f}", 1.0 / static_cast<double>(r.cp)), law_variance_cell(r),
                   estimate_cell(r.cv2_ratio), number_cell(s.max_over_min.p50),
                   number_cell(s.max_over_min.p90), percent_cell(s.max_over_min.share_below_2),
                   number_cell(s.slowdown(sync), 3), law_slowdown_cell(r, sync), percent_cell(wait),
                   bar(wait.value_or(0), 12), format_bytes(static_cast<double>(r.bytes_per_rank))});
  }
  return table.str();
}

// The same number of groups at every CP, so that averaging and the shrinking number of groups are told apart.
std::string fixed_groups_table(const SimulationRecord& record) {
  TextTable table(
      {{"CP"}, {"groups"}, {"variance ratio"}, {"max/min"}, {"p90"}, {"< 2"}, {"slowdown"}, {"law"}});
  for (const CpResult& r : record.result.results) {
    const GroupStatistics& s = r.fixed;
    if (s.steps == 0) continue;
    table.add_row({fmt::format("{}", r.cp), fmt::format("{}", s.groups),
                   estimate_cell(r.fixed_variance_ratio), number_cell(s.max_over_min.p50),
                   number_cell(s.max_over_min.p90), percent_cell(s.max_over_min.share_below_2),
                   number_cell(s.slowdown(record.config.sync), 3),
                   law_slowdown_cell(r.law && r.law->fixed ? &*r.law->fixed : nullptr, record.config.sync)});
  }
  return table.str();
}

}  // namespace

std::string simulation_text(const SimulationRecord& record) {
  const MemoryShape& m = record.config.memory;
  const bool planned = record.config.planned.has_value();
  return headline(record) + (planned ? split_sentence(record) : "") + "\n" + setting(record) + "\n" +
         main_table(record) +
         "\nWith 8 groups at every CP: averaging alone, without the shrinking number of groups\n\n" +
         fixed_groups_table(record) + "\n" + (planned ? split_table(record) + "\n" : "") + notes(record) +
         fmt::format(
             "max/min = slowest over fastest group of a step (median); slowdown = slowest over mean group, "
             "summed over steps;\n"
             "law = variance ratio and slowdown in closed form; wait = the share of rank time spent waiting. "
             "Memory: q, k, v, "
             "out, lse of one\n"
             "layer held at once ({} heads, {} kv heads of {}, {} bytes). {}\n",
             m.heads, m.kv_heads, m.head_dim, m.element_bytes,
             planned ? "Buffers of the scheme come on top; the law adds up windows by themselves."
                     : "Communication is not priced here.");
}

}  // namespace counterpoise
