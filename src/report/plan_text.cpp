// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "counterpoise/numbers.h"
#include "counterpoise/plan_file.h"
#include "counterpoise/plan_loads.h"
#include "report/plan_report.h"
#include "report/text_table.h"

namespace counterpoise {
namespace {

std::string mask_text(Mask mask) {
  if (mask == Mask::causal()) return "causal";
  if (mask == Mask::full()) return "full";
  return fmt::format("keys from {} before to {} after", mask.left, mask.right);
}

// One rank over all windows of its group, both passes.
struct RankTotals {
  int64_t tokens = 0, area = 0, sent = 0, received = 0, messages = 0, peak = 0;
};

void add_pass(const Pass& pass, std::vector<RankTotals>& ranks) {
  if (pass.programs.empty()) return;
  for (const Transfer& transfer : pass.transfers) ++ranks[transfer.src].messages;
  for (size_t rank = 0; rank < ranks.size(); ++rank) {
    ranks[rank].peak = std::max(ranks[rank].peak, peak_bytes(pass, static_cast<int32_t>(rank)));
  }
}

std::vector<RankTotals> totals_of(const StepPlan& plan, const GroupPlan& group) {
  std::vector<RankTotals> ranks(plan.cp);
  for (const WindowPlan& window : group.windows) {
    const WindowLoads loads = loads_of(plan, window);
    for (int32_t rank = 0; rank < plan.cp; ++rank) {
      ranks[rank].tokens += loads.forward[rank].tokens;
      ranks[rank].area += loads.forward[rank].area;
      for (const auto* pass : {&loads.forward, &loads.backward}) {
        if (pass->empty()) continue;
        ranks[rank].sent += (*pass)[rank].sent;
        ranks[rank].received += (*pass)[rank].received;
      }
    }
    add_pass(window.forward, ranks);
    add_pass(window.backward, ranks);
  }
  return ranks;
}

Traffic total_traffic(const StepPlan& plan) {
  Traffic sum;
  for (const GroupPlan& group : plan.groups) {
    for (const WindowPlan& window : group.windows) {
      for (const bool backward : {false, true}) {
        if (backward && window.backward.programs.empty()) continue;
        const Traffic one = traffic_of(plan, window, backward);
        sum.sent += one.sent;
        sum.least += one.least;
        sum.most_sent = std::max(sum.most_sent, one.most_sent);
      }
    }
  }
  return sum;
}

}  // namespace

std::string plan_head_text(const StepPlan& plan) {
  size_t windows = 0, tiles = 0, transfers = 0;
  bool backward = false;
  int64_t tokens = 0;
  for (const GroupPlan& group : plan.groups) {
    windows += group.windows.size();
    for (const WindowPlan& window : group.windows) {
      for (const PlanDocument& document : window.documents) tokens += document.length;
      tiles += window.forward.tiles.size() + window.backward.tiles.size();
      transfers += window.forward.transfers.size() + window.backward.transfers.size();
      backward = backward || !window.backward.programs.empty();
    }
  }
  const AttentionShape& shape = plan.shape;
  return fmt::format(
      "plan {:016x}: {} x {}, dp {}, cp {}, {} windows, {} tokens, {}\n"
      "heads {} / {} kv, head_dim {} / {} v, {} bytes an element, mask {}; {} tiles, {} messages\n",
      plan_hash(plan), plan.sharder, plan.scheme, plan.dp(), plan.cp, windows, format_count(tokens),
      backward ? "forward and backward" : "forward", shape.heads, shape.kv_heads, shape.head_dim,
      shape.v_head_dim, shape.element_bytes, mask_text(shape.mask), format_count(static_cast<int64_t>(tiles)),
      format_count(static_cast<int64_t>(transfers)));
}

std::string plan_loads_text(const StepPlan& plan) {
  TextTable table({{"group"},
                   {"rank"},
                   {"tokens"},
                   {"area"},
                   {"of mean"},
                   {"sent"},
                   {"received"},
                   {"messages"},
                   {"peak memory"}});
  for (size_t group = 0; group < plan.groups.size(); ++group) {
    const std::vector<RankTotals> ranks = totals_of(plan, plan.groups[group]);
    double area = 0;
    for (const RankTotals& rank : ranks) area += static_cast<double>(rank.area);
    for (size_t rank = 0; rank < ranks.size(); ++rank) {
      const RankTotals& r = ranks[rank];
      const double of_mean = area > 0 ? static_cast<double>(r.area) * plan.cp / area : 0;
      table.add_row({std::to_string(group), std::to_string(rank), format_count(r.tokens),
                     format_si(static_cast<double>(r.area)), fmt::format("{:.3f}", of_mean),
                     format_bytes(static_cast<double>(r.sent)), format_bytes(static_cast<double>(r.received)),
                     format_count(r.messages), format_bytes(static_cast<double>(r.peak))});
    }
  }
  const Traffic traffic = total_traffic(plan);
  return table.str() + fmt::format("sent in all {}, least for these holders and computers {}\n",
                                   format_bytes(static_cast<double>(traffic.sent)),
                                   format_bytes(static_cast<double>(traffic.least)));
}

std::string program_text(const WindowPlan& window, bool backward, int32_t rank) {
  const Pass& pass = backward ? window.backward : window.forward;
  if (pass.programs.empty()) return {};
  std::string text;
  int32_t at = 0;
  for (const Op& op : pass.program(rank)) {
    text += fmt::format("{:4} {:6} ", at++, op_name(op.kind));
    if (op.kind == OpKind::kAttend) {
      int64_t pairs = 0;
      for (int32_t i = op.index; i < op.index + op.count; ++i) {
        pairs += pass.tiles[i].q.size() * pass.tiles[i].kv.size();
      }
      text += fmt::format("{} tiles, q x kv {}\n", op.count, format_count(pairs));
    } else if (op.kind == OpKind::kMerge) {
      const Merge& merge = pass.merges[op.index];
      text += fmt::format("{} of {} rows into buffer {}\n", payload_name(pass.buffers[merge.from].payload),
                          pass.buffers[merge.from].rows, merge.into);
    } else {
      const Transfer& transfer = pass.transfers[op.index];
      text += fmt::format("{} {} -> {}, {} rows, {}\n", payload_name(transfer.payload), transfer.src,
                          transfer.dst, window.rows(transfer.pieces),
                          format_bytes(static_cast<double>(transfer.bytes)));
    }
  }
  return text;
}

std::string verify_text(const VerifyReport& report) {
  if (report.ok()) {
    return fmt::format(
        "valid: {} pairs exactly once per pass, messages match, no deadlock, peak {} on a rank\n",
        format_si(report.pairs), format_bytes(static_cast<double>(report.peak_bytes)));
  }
  std::string text = fmt::format("not valid, {} findings:\n", report.violations.size());
  for (const Violation& violation : report.violations)
    text += fmt::format("  {}: {}\n", violation.rule, violation.message);
  return text;
}

}  // namespace counterpoise
