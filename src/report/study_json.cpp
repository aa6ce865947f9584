// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "counterpoise/calibrate_cpu.h"
#include "report/simulation_report.h"
#include "report/study_report.h"

namespace counterpoise {

using nlohmann::ordered_json;

namespace {

ordered_json measured_json(const MeasuredCp& m, const Agreement& a, int64_t steps) {
  const GroupStatistics& s = m.statistics;
  return {{"steps", steps},
          {"groups", m.groups},
          {"repeat_noise", number_json(m.repeat_noise)},
          {"mean", s.mean},
          {"variance", number_json(s.variance)},
          {"variance_ratio", estimate_json(m.variance_ratio)},
          {"cv2_ratio", estimate_json(m.cv2_ratio)},
          {"max_over_min", max_over_min_json(s.max_over_min.p50, s.max_over_min.p90, s.max_over_min.mean,
                                             s.max_over_min.share_below_2)},
          {"slowdown_step", number_json(s.slowdown_step)},
          {"slowdown_micro_batch", number_json(s.slowdown_micro_batch)},
          {"agreement",
           {{"median_error", a.median_error},
            {"p90_error", a.p90_error},
            {"r2", number_json(a.r2)},
            {"r2_limit_of_noise", number_json(a.r2_limit)},
            {"mean_ratio_error", a.mean_ratio_error},
            {"constant_median_error", a.constant_error},
            {"squares_median_error", a.squares_error}}}};
}

ordered_json judgement_json(const Judgement& j) {
  return {{"follows", name_of(j.follows)},
          {"cp", j.cp},
          {"variance_ratio", estimate_json(j.ratio)},
          {"needed_steps", j.needed_steps ? ordered_json(*j.needed_steps) : ordered_json(nullptr)},
          {"reason", j.reason}};
}

ordered_json results_json(const SimulationResult& result, Sync sync) {
  ordered_json results = ordered_json::array();
  for (const CpResult& r : result.results) results.push_back(cp_result_json(r, sync));
  return results;
}

}  // namespace

ordered_json study_json(const StudyRecord& record) {
  const Study& study = record.study;
  const Sync sync = record.config.simulation.sync;
  ordered_json json;
  json["config"] = config_json({record.lengths, *study.profile, record.config.simulation, study.simulated});
  json["config"]["budget_seconds"] = record.config.budget_seconds;
  json["kernel"] = {{"cpu", study.measured.cpu},
                    {"isa", study.measured.isa},
                    {"heads", record.config.heads.heads},
                    {"kv_heads", record.config.heads.kv_heads},
                    {"head_dim", record.config.heads.head_dim}};
  json["profile"] = {{"hash", study.profile_hash},
                     {"cross_validated_error", study.profile_error},
                     {"given", record.config.profile != nullptr},
                     {"isa", calibrated_isa(*study.profile)}};
  json["results"] = results_json(study.simulated, sync);
  for (size_t j = 0; j < study.measured.results.size(); ++j)
    json["results"][j]["measured"] =
        measured_json(study.measured.results[j], study.measured.agreement[j], study.measured.steps);
  json["work"] = results_json(study.work, sync);
  json["repeat_noise"] = {{"median", study.measured.repeat_noise_median},
                          {"p90", study.measured.repeat_noise_p90},
                          {"groups", study.measured.repeats}};
  json["timings"] = {{"calls", study.measured.timings},
                     {"runs_taken_again", study.measured.retaken},
                     {"unusual", study.measured.unusual},
                     {"drift", study.measured.drift}};
  json["wide"] = study.wide ? ordered_json{{"window", record.config.wide_window},
                                           {"profile", "area"},
                                           {"results", results_json(*study.wide, sync)}}
                            : ordered_json(nullptr);
  json["variants"] = ordered_json::array();
  for (const Variant& v : study.variants) {
    ordered_json results = ordered_json::array();
    for (const CpResult& r : v.results) results.push_back(cp_result_json(r, sync));
    json["variants"].push_back(
        {{"name", v.name}, {"tokens_lost", v.tokens_lost}, {"padding", v.padding}, {"results", results}});
  }
  json["verdict"] = {{"work", judgement_json(study.work_judgement)},
                     {"measured", judgement_json(study.measured_judgement)},
                     {"max_over_min_below_two_from",
                      study.below_two_from ? ordered_json(*study.below_two_from) : ordered_json(nullptr)},
                     {"chosen_cp", study.chosen_cp},
                     {"neighbour_correlation", number_json(study.neighbour_correlation)},
                     {"tail_index", number_json(study.tail_index)},
                     {"efficiency_cost", study.efficiency_cost},
                     {"findings", findings(record)}};
  return json;
}

}  // namespace counterpoise
