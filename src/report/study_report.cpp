// SPDX-License-Identifier: Apache-2.0
#include "report/study_report.h"

#include <fmt/format.h>

#include <cmath>

#include "counterpoise/length_summary.h"
#include "counterpoise/numbers.h"
#include "report/simulation_report.h"
#include "report/text_table.h"

namespace counterpoise {
namespace {

int64_t quantile(const LengthSummary& summary, double p) {
  for (const LengthSummary::Quantile& q : summary.quantiles)
    if (q.p >= p) return q.length;
  return summary.max;
}

std::string lengths_line(const Lengths& lengths) {
  const LengthSummary s = summarise(lengths);
  std::string text = fmt::format("Lengths   {}: p50 {}, p90 {}, p99 {}, max {} tokens", lengths.source,
                                 format_count(quantile(s, 0.5)), format_count(quantile(s, 0.9)),
                                 format_count(quantile(s, 0.99)), format_count(s.max));
  if (s.longest)
    text += fmt::format("; the longest 1 % hold {:.0f} % of attention work (Σ length²)",
                        100 * s.longest->squares);
  return text + "\n";
}

std::string measured_part(const Measurements& measured) {
  const MeasuredCp& first = measured.results.front();
  if (first.groups == first.step_groups) return fmt::format("{} steps", measured.steps);
  return fmt::format("{} of {} groups of {} steps (a larger --budget measures whole steps)", first.groups,
                     first.step_groups, measured.steps);
}

// Empty on a core of one's own.
std::string shared_core_part(const Measurements& measured) {
  const auto calls = static_cast<double>(std::max<int64_t>(1, measured.timings));
  const double again = static_cast<double>(measured.retaken) / calls;
  const double never = static_cast<double>(measured.unusual) / calls;
  std::string part;
  if (again >= 0.005)
    part += fmt::format("; {:.1f} runs more per call, others slowing this core at times", again);
  if (never >= 0.005)
    part += fmt::format("; {:.0f} % of calls found the core slower or faster than usual", 100 * never);
  return part;
}

// Empty where the core is as fast as when it was calibrated.
std::string drift_part(const Measurements& measured) {
  if (std::abs(measured.drift) < 0.02) return "";
  return fmt::format("; a reference call took {:+.0f} % against the calibration", 100 * measured.drift);
}

std::string profile_line(const StudyRecord& record) {
  const Study& study = record.study;
  std::string line =
      fmt::format("Profile   {} as {} (its own cross-validated error {:.1f} %)\n",
                  record.config.profile ? "given, frozen" : "measured first, on other shapes, and frozen",
                  study.profile_hash, 100 * study.profile_error);
  if (const std::string isa = other_isa(study); !isa.empty())
    line += fmt::format("          it was measured with {}, while {} runs here: calibrate anew\n", isa,
                        study.measured.isa);
  return line;
}

std::string setting_lines(const StudyRecord& record) {
  const SimulationConfig& c = record.config.simulation;
  const Study& study = record.study;
  const ProfileInfo& info = study.profile->info();
  return fmt::format(
      "Training  {} ranks, windows of {} tokens ({}), {} order, regime {}, {} simulated steps\n"
      "Kernel    {}: {}\n"
      "{}"
      "Measured  {} in {}{}\n",
      c.ranks, format_size(c.pack.window), name_of(c.pack.policy),
      c.window_order == WindowOrder::kShuffle ? "shuffled" : "stream", name_of(c.regime),
      format_count(study.simulated.steps), study.measured.cpu, info.kernel, profile_line(record),
      measured_part(study.measured), format_seconds(study.measured.seconds),
      shared_core_part(study.measured) + drift_part(study.measured));
}

std::string variance_table(const Study& study, WindowOrder order) {
  TextTable table({{"CP"},
                   {"groups"},
                   {order == WindowOrder::kStream ? "law" : "1/CP"},  // neighbours do not fall as 1/CP
                   {"variance ratio: work"},
                   {"seconds, simulated"},
                   {"measured"},
                   {"CV² ratio: simulated"},
                   {"measured"}});
  for (size_t j = 0; j < study.simulated.results.size(); ++j) {
    const CpResult& s = study.simulated.results[j];
    const MeasuredCp& m = study.measured.results[j];
    table.add_row({fmt::format("{}", s.cp), fmt::format("{}", s.all.groups),
                   order == WindowOrder::kStream ? law_variance_cell(study.work.results[j])
                                                 : fmt::format("{:.3f}", 1.0 / static_cast<double>(s.cp)),
                   estimate_cell(study.work.results[j].variance_ratio), estimate_cell(s.variance_ratio),
                   estimate_cell(m.variance_ratio), estimate_cell(s.cv2_ratio), estimate_cell(m.cv2_ratio)});
  }
  return table.str();
}

std::string spread_table(const StudyRecord& record) {
  const Study& study = record.study;
  const Sync sync = record.config.simulation.sync;
  TextTable table({{"CP"},
                   {"max/min sim."},
                   {"meas."},
                   {"< 2 sim."},
                   {"meas."},
                   {"slowdown sim."},
                   {"meas."},
                   {"law"},
                   {"(micro)"},
                   {"wait"},
                   {"", Align::kLeft},
                   {"memory/rank"}});
  for (size_t j = 0; j < study.simulated.results.size(); ++j) {
    const CpResult& s = study.simulated.results[j];
    const GroupStatistics& m = study.measured.results[j].statistics;
    const std::optional<double> wait = s.all.wait_share(sync);
    table.add_row({fmt::format("{}", s.cp), number_cell(s.all.max_over_min.p50),
                   number_cell(m.max_over_min.p50), percent_cell(s.all.max_over_min.share_below_2),
                   percent_cell(m.max_over_min.share_below_2), number_cell(s.all.slowdown_step, 3),
                   number_cell(m.slowdown_step, 3), law_slowdown_cell(s, Sync::kStep),
                   number_cell(s.all.slowdown_micro_batch, 3), percent_cell(wait), bar(wait.value_or(0), 10),
                   format_bytes(static_cast<double>(s.bytes_per_rank))});
  }
  return table.str();
}

std::string agreement_table(const Study& study) {
  TextTable table({{"CP"},
                   {"groups measured"},
                   {"median error"},
                   {"p90"},
                   {"R²"},
                   {"mean vs CP = 1"},
                   {"constant"},
                   {"Σ length²/CP"}});
  for (size_t j = 0; j < study.measured.results.size(); ++j) {
    const MeasuredCp& m = study.measured.results[j];
    const Agreement& a = study.measured.agreement[j];
    table.add_row({fmt::format("{}", m.cp), format_count(m.groups * study.measured.steps),
                   fmt::format("{:.1f} %", 100 * a.median_error), fmt::format("{:.1f} %", 100 * a.p90_error),
                   number_cell(a.r2, 3), fmt::format("{:+.1f} %", 100 * a.mean_ratio_error),
                   fmt::format("{:.0f} %", 100 * a.constant_error),
                   fmt::format("{:.0f} %", 100 * a.squares_error)});
  }
  return table.str();
}

std::string variants_table(const Study& study) {
  TextTable table({{"packing", Align::kLeft},
                   {"CP"},
                   {"max/min"},
                   {"slowdown"},
                   {"slowest group"},
                   {"tokens lost"},
                   {"padding"}});
  for (const Variant& v : study.variants)
    for (const CpResult& r : v.results)
      table.add_row({&r == &v.results.front() ? v.name : "", fmt::format("{}", r.cp),
                     number_cell(r.all.max_over_min.p50), number_cell(r.all.slowdown_step, 3),
                     format_seconds(r.all.step_seconds), fmt::format("{:.2g} %", 100 * v.tokens_lost),
                     fmt::format("{:.2g} %", 100 * v.padding)});
  return table.str();
}

}  // namespace

std::string study_text(const StudyRecord& record) {
  std::string text = lengths_line(record.lengths) + setting_lines(record) +
                     "\nHow the variance of group time falls\n\n" +
                     variance_table(record.study, record.config.simulation.window_order) +
                     "\nHow long the fast groups wait for the slowest\n\n" + spread_table(record) + "\n";
  text += "Predicted against measured group times\n\n" + agreement_table(record.study) + "\n";
  if (!record.study.variants.empty())
    text += "Packing and the tail, simulated\n\n" + variants_table(record.study) + "\n";
  text += "Found\n";
  for (const std::string& sentence : findings(record)) text += "  * " + sentence + "\n";
  const MemoryShape& m = record.config.simulation.memory;
  text += fmt::format(
      "\nsim. = simulated with the frozen profile; ± = 95 % interval; max/min = slowest over fastest group "
      "(median step);\n"
      "slowdown = Σ slowest / Σ mean group, (micro) with groups meeting after every window; wait = 1 − "
      "1/slowdown;\n"
      "memory = q, k, v, out, lse of one layer held at once by a rank ({} heads, {} kv heads of {}, {} "
      "bytes).\n",
      m.heads, m.kv_heads, m.head_dim, m.element_bytes);
  return text;
}

}  // namespace counterpoise
