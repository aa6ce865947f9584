// SPDX-License-Identifier: Apache-2.0
#include "report/run_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "counterpoise/metrics.h"
#include "counterpoise/numbers.h"
#include "report/text_table.h"

namespace counterpoise {
namespace {

using Json = nlohmann::ordered_json;

// One rank over all steps.
struct RankTotal {
  RankTime time;
  RankUse use;
  double communication = 0;  // before the all-reduce, neither in attend or merge nor waiting
};

std::vector<RankTotal> totals(const RunRecord& run) {
  std::vector<RankTotal> ranks(static_cast<size_t>(run.ranks));
  for (const StepRecord& step : run.steps) {
    const std::vector<RankTime> times = rank_times(step.timeline);
    for (size_t rank = 0; rank < ranks.size(); ++rank) {
      RankTotal& total = ranks[rank];
      const RankUse& use = step.ranks[rank];
      total.time.compute += times[rank].compute;
      total.time.wait += times[rank].wait;
      total.time.before_reduce += times[rank].before_reduce;
      total.time.reduce += times[rank].reduce;
      total.communication += times[rank].before_reduce - times[rank].compute - times[rank].wait;
      total.use.cpu_seconds += use.cpu_seconds;
      total.use.bytes_sent += use.bytes_sent;
      total.use.bytes_in_place += use.bytes_in_place;
      total.use.peak_bytes = std::max(total.use.peak_bytes, use.peak_bytes);
      total.use.process_peak_bytes = std::max(total.use.process_peak_bytes, use.process_peak_bytes);
    }
  }
  return ranks;
}

std::vector<double> step_spreads(const std::vector<std::vector<double>>& groups) {
  std::vector<double> spreads;
  for (const std::vector<double>& step : groups) {
    if (const auto value = spread(step); value && step.size() > 1) spreads.push_back(*value);
  }
  std::sort(spreads.begin(), spreads.end());
  return spreads;
}

Json optional_json(const std::optional<double>& value) {
  return value ? Json(*value) : Json(nullptr);
}
std::string cell(const std::optional<double>& value) {
  return value ? fmt::format("{:.3f}", *value) : "-";
}

std::optional<double> exposed(const RunRecord& run) {
  std::vector<RankTime> all;
  for (const RankTotal& total : totals(run)) all.push_back(total.time);
  return exposed_comm(all);
}

const char* check_name(CheckKind kind) {
  return kind == CheckKind::kOracle ? "oracle" : kind == CheckKind::kSingle ? "single" : "none";
}

std::string check_text(const RunReport& r) {
  if (r.check == CheckKind::kNone) return "Results were not checked (--check none).\n";
  const std::string against = r.check == CheckKind::kOracle ? "the fp64 oracle" : "the single-rank result";
  std::string text = fmt::format("Results against {}, {} windows, {} documents:\n", against,
                                 r.run.check.windows, r.run.check.documents);
  for (const TensorCheck& tensor : r.run.check.tensors) {
    text += fmt::format("  {:<4} largest error {:.2e}, allowed {:.2e}  {}\n", tensor.name, tensor.error,
                        tensor.allowed, tensor.ok() ? "ok" : "WRONG");
  }
  return text;
}

}  // namespace

std::vector<std::vector<double>> group_cpu_times(const RunRecord& run, int32_t cp) {
  std::vector<std::vector<double>> steps;
  for (const StepRecord& step : run.steps) {
    std::vector<double>& groups = steps.emplace_back(step.ranks.size() / static_cast<size_t>(cp), 0.0);
    for (size_t rank = 0; rank < step.ranks.size(); ++rank) {
      double& group = groups[rank / static_cast<size_t>(cp)];
      group = std::max(group, step.ranks[rank].cpu_seconds);
    }
  }
  return steps;
}

std::vector<std::vector<double>> measured_group_times(const RunRecord& run, int32_t cp) {
  if (run.crowded()) return group_cpu_times(run, cp);
  std::vector<std::vector<double>> steps;
  for (const StepRecord& step : run.steps) steps.push_back(group_times(step.timeline, cp));
  return steps;
}

std::string run_text(const RunReport& r) {
  const int32_t cp = r.plan.cp;
  const AttentionShape& s = r.plan.shape;
  const bool crowded = r.run.crowded();
  std::string text = fmt::format(
      "{} steps of {} groups x CP {} over {} ({} ranks, {} cores), {} x {}, window {}\n"
      "attention: {} heads, {} kv heads, head_dim {}, float32, {}, {} thread{} a rank\n",
      r.run.steps.size(), r.plan.dp(), cp, r.run.communicator, r.run.ranks, r.run.cores, r.plan.sharder,
      r.plan.scheme, format_size(r.window), s.heads, s.kv_heads, s.head_dim, isa_name(r.run.kernel.isa),
      r.run.kernel.threads, r.run.kernel.threads == 1 ? "" : "s");
  if (crowded) {
    text +=
        "Ranks outnumber cores: compute is CPU time, and waits also hold the time in which other ranks "
        "ran.\n";
  }
  text += "\n";
  TextTable table({{"rank"},
                   {"group"},
                   {"compute"},
                   {"communication"},
                   {"wait"},
                   {"all-reduce"},
                   {"peak memory"},
                   {"sent"},
                   {"in place"}});
  const std::vector<RankTotal> ranks = totals(r.run);
  for (size_t rank = 0; rank < ranks.size(); ++rank) {
    const RankTotal& total = ranks[rank];
    table.add_row({std::to_string(rank), std::to_string(rank / static_cast<size_t>(cp)),
                   format_seconds(crowded ? total.use.cpu_seconds : total.time.compute),
                   format_seconds(total.communication), format_seconds(total.time.wait),
                   format_seconds(total.time.reduce), format_bytes(static_cast<double>(total.use.peak_bytes)),
                   format_bytes(static_cast<double>(total.use.bytes_sent)),
                   format_bytes(static_cast<double>(total.use.bytes_in_place))});
  }
  text += table.str() + "\n";
  const auto groups = measured_group_times(r.run, cp);
  const std::vector<double> spreads = step_spreads(groups);
  if (!spreads.empty()) {
    text += fmt::format("Group times: max/min {:.3f} (median over steps), slowdown {}",
                        spreads[spreads.size() / 2], cell(slowdown(groups)));
    if (r.simulated_slowdown) text += fmt::format(", simulated {}", cell(r.simulated_slowdown));
    text += "\n";
  }
  text += fmt::format("Exposed communication: {} of the time before the all-reduce\n", cell(exposed(r.run)));
  return text + check_text(r);
}

nlohmann::ordered_json run_json(const RunReport& r) {
  const AttentionShape& s = r.plan.shape;
  Json json;
  json["config"] = {{"dp", r.plan.dp()},
                    {"cp", r.plan.cp},
                    {"shard", r.plan.sharder},
                    {"scheme", r.plan.scheme},
                    {"window", r.window},
                    {"steps", r.run.steps.size()},
                    {"heads", s.heads},
                    {"kv_heads", s.kv_heads},
                    {"head_dim", s.head_dim},
                    {"v_head_dim", s.v_head_dim},
                    {"backward", !r.plan.groups[0].windows[0].backward.programs.empty()}};
  json["communicator"] = r.run.communicator;
  json["ranks"] = r.run.ranks;
  json["cores"] = r.run.cores;
  json["crowded"] = r.run.crowded();
  json["kernel"] = {
      {"isa", isa_name(r.run.kernel.isa)}, {"threads", r.run.kernel.threads}, {"cpu", cpu_name()}};
  json["per_rank"] = Json::array();
  for (const RankTotal& total : totals(r.run)) {
    json["per_rank"].push_back({{"compute_seconds", total.time.compute},
                                {"compute_cpu_seconds", total.use.cpu_seconds},
                                {"communication_seconds", total.communication},
                                {"wait_seconds", total.time.wait},
                                {"reduce_seconds", total.time.reduce},
                                {"bytes_sent", total.use.bytes_sent},
                                {"bytes_in_place", total.use.bytes_in_place},
                                {"peak_bytes", total.use.peak_bytes},
                                {"process_peak_bytes", total.use.process_peak_bytes}});
  }
  const auto groups = measured_group_times(r.run, r.plan.cp);
  json["group_seconds"] = groups;
  json["group_cpu_seconds"] = group_cpu_times(r.run, r.plan.cp);
  json["slowdown_cpu"] = optional_json(slowdown(group_cpu_times(r.run, r.plan.cp)));
  json["group_seconds_are"] = r.run.crowded() ? "cpu" : "wall";
  const std::vector<double> spreads = step_spreads(groups);
  json["spread_median"] = spreads.empty() ? Json(nullptr) : Json(spreads[spreads.size() / 2]);
  json["slowdown"] = optional_json(slowdown(groups));
  json["simulated_slowdown"] = optional_json(r.simulated_slowdown);
  json["exposed_comm"] = optional_json(exposed(r.run));
  json["step_seconds"] = Json::array();
  for (const StepRecord& step : r.run.steps) json["step_seconds"].push_back(step.timeline.end());
  json["check"] = {{"against", check_name(r.check)}, {"ok", r.run.check.ok()}, {"tensors", Json::array()}};
  for (const TensorCheck& t : r.run.check.tensors) {
    json["check"]["tensors"].push_back(
        {{"name", t.name}, {"error", t.error}, {"allowed", t.allowed}, {"ok", t.ok()}});
  }
  return json;
}

}  // namespace counterpoise
