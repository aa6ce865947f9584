// SPDX-License-Identifier: Apache-2.0
#include "report/split_report.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "counterpoise/numbers.h"
#include "report/text_table.h"

namespace counterpoise {
namespace {

using nlohmann::ordered_json;

std::string links_words(const PlannedSplit& planned) {
  if (planned.links == "none") return "messages free";
  return fmt::format("messages by {}, {}", planned.links,
                     planned.ranks_per_node == 0 ? "all ranks in one node"
                                                 : fmt::format("{} ranks a node", planned.ranks_per_node));
}

// All that a step waits for, inside groups and between them.
std::optional<double> whole_slowdown(const CpResult& r) {
  const WithinGroups& w = *r.within;
  if (!r.all.slowdown_step || !w.uneven_slowdown || !w.comm_slowdown) return std::nullopt;
  return *r.all.slowdown_step * *w.uneven_slowdown * *w.comm_slowdown;
}

}  // namespace

std::string split_setting(const PlannedSplit& planned) {
  const AttentionShape& s = planned.split.shape;
  return fmt::format("{} shards, scheme {}, forward of {} query and {} kv heads of {}, {} bytes; {}\n",
                     planned.split.sharder, planned.split.scheme, s.heads, s.kv_heads, s.head_dim,
                     s.element_bytes, links_words(planned));
}

std::string split_table(const SimulationRecord& record) {
  TextTable table({{"CP"},
                   {"max/mean rank"},
                   {"uneven ranks"},
                   {"messages"},
                   {"slowest group"},
                   {"together"},
                   {"exposed comm"},
                   {"sent/rank"},
                   {"tokens/rank"}});
  for (const CpResult& r : record.result.results) {
    const WithinGroups& w = *r.within;
    table.add_row({fmt::format("{}", r.cp), number_cell(w.imbalance, 3), number_cell(w.uneven_slowdown, 3),
                   number_cell(w.comm_slowdown, 3), number_cell(r.all.slowdown_step, 3),
                   number_cell(whole_slowdown(r), 3), percent_cell(w.exposed_comm), format_bytes(w.sent_mean),
                   format_size(w.most_tokens)});
  }
  return "Inside the groups, and what is lost there beside the wait for the slowest group\n\n" + table.str() +
         "\nuneven ranks = group time with free messages over the mean compute of its ranks; messages = "
         "group "
         "time over that\n"
         "with free messages; together = step time over the same compute spread evenly with nothing to wait "
         "for; "
         "exposed comm\n"
         "= share of ranks' time in waits; sent = bytes of one layer and step. Groups meet once a step.\n";
}

std::string split_sentence(const SimulationRecord& record) {
  const CpResult& r = record.result.results.back();
  const std::optional<double> whole = whole_slowdown(r);
  if (!whole || r.cp == 1) return {};
  const WithinGroups& w = *r.within;
  return fmt::format(
      "At CP = {} a step takes {:.2f}x as long as the same attention spread evenly over all ranks: uneven "
      "ranks "
      "inside a group cost {:.2f}x, messages that compute does not hide {:.2f}x, the wait for the slowest "
      "group "
      "{:.2f}x.\n",
      r.cp, *whole, *w.uneven_slowdown, *w.comm_slowdown, *r.all.slowdown_step);
}

ordered_json split_config_json(const PlannedSplit& planned) {
  const AttentionShape& s = planned.split.shape;
  return {{"sharder", planned.split.sharder},
          {"scheme", planned.split.scheme},
          {"block", planned.split.shard_options.block},
          {"token_cap", planned.split.shard_options.token_cap},
          {"inner", planned.split.scheme_options.inner},
          {"heads", s.heads},
          {"kv_heads", s.kv_heads},
          {"head_dim", s.head_dim},
          {"element_bytes", s.element_bytes},
          {"links", planned.links},
          {"ranks_per_node", planned.ranks_per_node}};
}

ordered_json within_groups_json(const WithinGroups& w) {
  return {{"imbalance", number_json(w.imbalance)},
          {"exposed_comm", number_json(w.exposed_comm)},
          {"uneven_slowdown", number_json(w.uneven_slowdown)},
          {"comm_slowdown", number_json(w.comm_slowdown)},
          {"compute_mean", w.compute_mean},
          {"bytes_sent_per_rank", {{"mean", w.sent_mean}, {"most", w.sent_most}}}};
}

}  // namespace counterpoise
