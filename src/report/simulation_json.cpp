// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "report/law_report.h"
#include "report/simulation_report.h"
#include "report/split_report.h"

namespace counterpoise {

using nlohmann::ordered_json;

ordered_json number_json(const std::optional<double>& value) {
  return value ? ordered_json(*value) : ordered_json(nullptr);
}

ordered_json estimate_json(const std::optional<Estimate>& estimate) {
  if (!estimate) return nullptr;
  return {{"value", estimate->value}, {"ci95", {estimate->low, estimate->high}}};
}

ordered_json max_over_min_json(const std::optional<double>& p50, const std::optional<double>& p90,
                               const std::optional<double>& mean,
                               const std::optional<double>& share_below_2) {
  return {{"p50", number_json(p50)},
          {"p90", number_json(p90)},
          {"mean", number_json(mean)},
          {"share_below_2", number_json(share_below_2)}};
}

ordered_json windows_json(const SimulationConfig& config) {
  return {{"pack", name_of(config.pack.policy)},          {"long", name_of(config.pack.long_documents)},
          {"look_ahead", config.pack.look_ahead},         {"order", name_of(config.order)},
          {"window_order", name_of(config.window_order)}, {"regime", name_of(config.regime)}};
}

namespace {

void add_group_statistics(ordered_json& json, const GroupStatistics& s, Sync sync) {
  json["groups"] = s.groups;
  json["steps"] = s.steps;
  json["mean"] = s.mean;
  json["variance"] = number_json(s.variance);
  json["cv"] = number_json(s.cv);
  const SpreadStats& spread = s.max_over_min;
  json["max_over_min"] = max_over_min_json(spread.p50, spread.p90, spread.mean, spread.share_below_2);
  json["max_over_min"]["judged"] = s.judged();
  json["max_over_mean"] = {{"p50", number_json(s.max_over_mean.p50)},
                           {"p90", number_json(s.max_over_mean.p90)},
                           {"mean", number_json(s.max_over_mean.mean)}};
  json["slowdown"] = number_json(s.slowdown(sync));
  json["wait_share"] = number_json(s.wait_share(sync));
  json["slowdown_step"] = number_json(s.slowdown_step);
  json["slowdown_micro_batch"] = number_json(s.slowdown_micro_batch);
  json["slowest_group_mean"] = sync == Sync::kStep ? s.step_seconds : s.micro_batch_seconds;
}

ordered_json account_json(const PackAccount& a) {
  return {{"documents", a.documents},
          {"empty_documents", a.empty_documents},
          {"tokens", a.tokens},
          {"placed", a.placed},
          {"truncated", a.truncated},
          {"dropped", a.dropped},
          {"pending", a.pending()},
          {"padding", a.padding},
          {"windows", a.windows},
          {"split_documents", a.split_documents},
          {"truncated_documents", a.truncated_documents},
          {"dropped_documents", a.dropped_documents}};
}

}  // namespace

ordered_json cp_result_json(const CpResult& r, Sync sync) {
  ordered_json json = {{"cp", r.cp}};
  add_group_statistics(json, r.all, sync);
  json["variance_ratio"] = estimate_json(r.variance_ratio);
  json["cv2_ratio"] = estimate_json(r.cv2_ratio);
  json["one_over_cp"] = 1.0 / static_cast<double>(r.cp);
  json["memory"] = {{"tokens_per_rank", r.tokens_per_rank}, {"bytes_per_rank_and_layer", r.bytes_per_rank}};
  ordered_json fixed = ordered_json::object();
  add_group_statistics(fixed, r.fixed, sync);
  fixed["variance_ratio"] = estimate_json(r.fixed_variance_ratio);
  json["fixed_groups"] = fixed;
  json["law"] = nullptr;
  if (r.law) {
    json["law"] = law_row_json(*r.law);
    json["law"]["max_over_mean"] = r.law->all.max_over_mean;  // version 1 has a number here
  }
  if (r.within) json["within_groups"] = within_groups_json(*r.within);
  json["packing"] = account_json(r.account);
  return json;
}

ordered_json profile_json(const Profile& profile) {
  return {{"name", profile.info().name},
          {"source", profile.info().source},
          {"unit", profile.info().unit},
          {"hash", profile_hash(profile)}};
}

ordered_json config_json(const SimulationRecord& record) {
  const SimulationConfig& c = record.config;
  ordered_json json = {{"ranks", c.ranks}, {"cp", c.cp}, {"window", c.pack.window}, {"steps", c.steps}};
  json.update(windows_json(c));
  json["sync"] = name_of(c.sync);
  json["shard"] = c.planned ? c.planned->split.sharder : "ideal";
  json["profile"] = profile_json(record.profile);
  json["memory_shape"] = {{"heads", c.memory.heads},
                          {"kv_heads", c.memory.kv_heads},
                          {"head_dim", c.memory.head_dim},
                          {"element_bytes", c.memory.element_bytes}};
  json["seed"] = c.seed;
  if (c.planned) json["split"] = split_config_json(*c.planned);
  return json;
}

ordered_json simulation_json(const SimulationRecord& record) {
  ordered_json json;
  json["config"] = config_json(record);
  json["lengths"] = {{"source", record.lengths.source},
                     {"format", record.lengths.format},
                     {"provenance", record.lengths.provenance},
                     {"documents", record.lengths.has_order() ? ordered_json(record.lengths.corpus.size())
                                                              : ordered_json(nullptr)}};
  json["steps"] = record.result.steps;
  json["distinct_steps"] = record.result.distinct_steps;
  json["corpus_passes"] = number_json(record.result.corpus_passes);
  json["results"] = ordered_json::array();
  for (const CpResult& r : record.result.results) {
    json["results"].push_back(cp_result_json(r, record.config.sync));
    ordered_json& result = json["results"].back();
    result["extrapolated"] = extrapolated(record.profile, record.config, r.cp);
    if (!record.config.planned) continue;
    result["shard"] = record.config.planned->split.sharder;
    result["scheme"] = record.config.planned->split.scheme;
  }
  return json;
}

std::string simulation_csv(const SimulationRecord& record) {
  std::string csv =
      "cp,groups,steps,mean,variance,variance_ratio,variance_ratio_low,variance_ratio_high,cv,cv2_ratio,max_"
      "over_min_p50,"
      "max_over_min_p90,max_over_min_mean,share_below_2,max_over_mean_mean,slowdown_step,slowdown_micro_"
      "batch,"
      "tokens_per_rank,bytes_per_rank_and_layer";
  csv += record.config.planned ? ",imbalance,exposed_comm,uneven_slowdown,comm_slowdown,bytes_sent_per_rank\n"
                               : "\n";
  auto cell = [](const std::optional<double>& value) {
    return value ? fmt::format("{:.9g}", *value) : std::string();
  };
  for (const CpResult& r : record.result.results) {
    const GroupStatistics& s = r.all;
    const std::optional<Estimate>& v = r.variance_ratio;
    csv += fmt::format("{},{},{},{:.9g},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}", r.cp, s.groups,
                       s.steps, s.mean, cell(s.variance), v ? fmt::format("{:.9g}", v->value) : "",
                       v ? fmt::format("{:.9g}", v->low) : "", v ? fmt::format("{:.9g}", v->high) : "",
                       cell(s.cv), r.cv2_ratio ? fmt::format("{:.9g}", r.cv2_ratio->value) : "",
                       cell(s.max_over_min.p50), cell(s.max_over_min.p90), cell(s.max_over_min.mean),
                       cell(s.max_over_min.share_below_2), cell(s.max_over_mean.mean), cell(s.slowdown_step),
                       cell(s.slowdown_micro_batch), r.tokens_per_rank, r.bytes_per_rank);
    if (r.within)
      csv += fmt::format(",{},{},{},{},{:.9g}", cell(r.within->imbalance), cell(r.within->exposed_comm),
                         cell(r.within->uneven_slowdown), cell(r.within->comm_slowdown), r.within->sent_mean);
    csv += "\n";
  }
  return csv;
}

}  // namespace counterpoise
