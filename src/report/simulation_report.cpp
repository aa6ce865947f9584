// SPDX-License-Identifier: Apache-2.0
#include "report/simulation_report.h"

#include <fmt/format.h>

#include "counterpoise/numbers.h"
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
      "{} steps of {} windows of {} tokens from {} ({}, {}, windows in {} order), regime {}, groups meet "
      "once a {},\n"
      "profile {} ({}), ideal split\n",
      format_count(record.result.steps), c.ranks, format_size(c.pack.window), record.lengths.source,
      name_of(c.pack.policy), name_of(c.order),
      c.window_order == WindowOrder::kShuffle ? "shuffled" : "stream", name_of(c.regime),
      c.sync == Sync::kStep ? "step" : "micro-batch", record.profile.info().name,
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
  for (const CpResult& r : record.result.results)
    if (!r.all.judged() && r.all.groups > 1)
      text +=
          fmt::format("CP = {} leaves {} groups: its max/min is shown but not judged.\n", r.cp, r.all.groups);
  return text;
}

}  // namespace

std::string simulation_text(const SimulationRecord& record) {
  TextTable table({{"CP"},
                   {"groups"},
                   {"variance ratio"},
                   {"1/CP"},
                   {"CV²ratio"},
                   {"max/min p50"},
                   {"p90"},
                   {"< 2"},
                   {"slowdown"},
                   {"law"},
                   {"wait"},
                   {"", Align::kLeft},
                   {"8 groups: max/min"},
                   {"slowdown"},
                   {"memory/rank"}});
  for (const CpResult& r : record.result.results) {
    const GroupStatistics& s = r.all;
    const std::optional<double> wait = s.wait_share(record.config.sync);
    table.add_row({fmt::format("{}", r.cp), fmt::format("{}", s.groups), estimate_cell(r.variance_ratio),
                   fmt::format("{:.3f}", 1.0 / static_cast<double>(r.cp)),
                   r.cv2_ratio ? fmt::format("{:.3f}", r.cv2_ratio->value) : "-",
                   number_cell(s.max_over_min.p50), number_cell(s.max_over_min.p90),
                   percent_cell(s.max_over_min.share_below_2), number_cell(s.slowdown(record.config.sync), 3),
                   law_slowdown_cell(r.law, record.config.sync), percent_cell(wait),
                   bar(wait.value_or(0), 12), number_cell(r.fixed.max_over_min.p50),
                   number_cell(r.fixed.slowdown(record.config.sync), 3),
                   format_bytes(static_cast<double>(r.bytes_per_rank))});
  }
  const MemoryShape& m = record.config.memory;
  return headline(record) + "\n" + setting(record) + "\n" + table.str() + "\n" + notes(record) +
         fmt::format(
             "slowdown = slowest group over mean group, summed over steps, law = the same in closed form; "
             "wait = the share of rank time "
             "spent waiting for "
             "it. Memory: q, k, v, out, lse\nof one layer held at once ({} heads, {} kv heads of {}, {} "
             "bytes). "
             "Communication is not priced here.\n",
             m.heads, m.kv_heads, m.head_dim, m.element_bytes);
}

}  // namespace counterpoise
