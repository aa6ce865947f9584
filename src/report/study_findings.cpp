// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "counterpoise/numbers.h"
#include "report/simulation_report.h"
#include "report/study_report.h"

namespace counterpoise {
namespace {

std::string judgement_sentence(const std::string& what, const Judgement& j) {
  if (!j.ratio) return what + ": variance cannot be judged; it needs at least two groups and four steps.";
  const std::string numbers = fmt::format("variance ratio {} at CP = {}, 1/CP = {:.3f}",
                                          estimate_cell(j.ratio), j.cp, 1.0 / static_cast<double>(j.cp));
  switch (j.follows) {
    case Follows::kYes:
      return fmt::format("{}: the variance of group time follows 1/CP ({}).", what, numbers);
    case Follows::kFaster:
      return fmt::format("{}: the variance of group time falls a little faster than 1/CP ({}).", what,
                         numbers);
    case Follows::kClose:
      return fmt::format("{}: the variance of group time falls nearly as 1/CP, at most 10 % above it ({}).",
                         what, numbers);
    case Follows::kNo:
      return fmt::format("{}: the variance of group time does not follow 1/CP: {} ({}).", what, j.reason,
                         numbers);
    case Follows::kInconclusive:
      if (!j.reason.empty()) return fmt::format("{}: inconclusive, {} ({}).", what, j.reason, numbers);
      return fmt::format("{}: inconclusive, needs {} steps ({}).", what,
                         j.needed_steps ? format_count(*j.needed_steps) : "more", numbers);
  }
  return {};
}

std::string spread_sentence(const std::vector<CpResult>& results, const std::string& window) {
  const CpResult* last = largest_judged(results);
  const std::optional<int64_t> from = below_two_from(results);
  if (!last) return fmt::format("Windows of {}: fewer than four groups, so max/min is not judged.", window);
  const CpResult& first = results.front();
  const std::string numbers =
      fmt::format("median {} at CP = {}, {} at CP = {}", number_cell(first.all.max_over_min.p50), first.cp,
                  number_cell(last->all.max_over_min.p50), last->cp);
  if (from)
    return fmt::format(
        "Windows of {}: from CP = {} the slowest group stays below two times the fastest ({}, where {} of "
        "steps are below two).",
        window, *from, numbers, percent_cell(last->all.max_over_min.share_below_2));
  return fmt::format("Windows of {}: max/min does not come below two at any judged CP ({}).", window,
                     numbers);
}

std::string efficiency_sentence(const Study& study, Regime regime) {
  const size_t last = study.efficiency_cost.size() - 1;
  const double change = 100 * study.efficiency_cost[last];
  const int64_t cp = study.simulated.results[last].cp;
  if (regime == Regime::kGrow)
    return fmt::format(
        "Longer documents stay whole in longer windows: at CP = {} a rank's mean attention time changes by "
        "{:+.0f} % "
        "for the same number of tokens.",
        cp, change);
  if (change >= 0)
    return fmt::format(
        "Splitting costs kernel efficiency: CP = {} adds {:.1f} % to the mean attention time of a rank.", cp,
        change);
  return fmt::format(
      "Splitting costs no kernel efficiency here: CP = {} changes the mean attention time of a rank by "
      "{:.1f} %.",
      cp, change);
}

std::string sync_sentence(const Study& study) {
  const GroupStatistics& last = study.simulated.results.back().all;
  const GroupStatistics& first = study.simulated.results.front().all;
  return fmt::format(
      "Groups that meet once a step wait {} at CP = {} instead of {} at CP = 1; meeting after every window "
      "(FSDP/ZeRO-3) they wait {}.",
      percent_cell(last.wait_share(Sync::kStep)), study.simulated.results.back().cp,
      percent_cell(first.wait_share(Sync::kStep)), percent_cell(last.wait_share(Sync::kMicroBatch)));
}

std::string variant_sentence(const Study& study) {
  auto best =
      std::min_element(study.variants.begin(), study.variants.end(), [](const Variant& a, const Variant& b) {
        return a.results.back().all.slowdown_step.value_or(1e9) <
               b.results.back().all.slowdown_step.value_or(1e9);
      });
  if (best == study.variants.end()) return {};
  return fmt::format(
      "Of the packings below, {} balances best at CP = {} (slowdown {}), losing {:.2g} % of tokens and "
      "padding {:.2g} %.",
      best->name, best->results.back().cp, number_cell(best->results.back().all.slowdown_step, 3),
      100 * best->tokens_lost, 100 * best->padding);
}

std::string choice_sentence(const StudyRecord& record) {
  const Study& study = record.study;
  const auto chosen = std::find_if(study.simulated.results.begin(), study.simulated.results.end(),
                                   [&](const CpResult& r) { return r.cp == study.chosen_cp; });
  const GroupStatistics& all = chosen->all;
  return fmt::format(
      "Choice: CP = {}, the least time of the slowest group ({} a step, slowdown {}); kernel efficiency is "
      "in it, "
      "communication is not priced.",
      study.chosen_cp,
      format_seconds(record.config.simulation.sync == Sync::kStep ? all.step_seconds
                                                                  : all.micro_batch_seconds),
      number_cell(all.slowdown(record.config.simulation.sync), 3));
}

std::string agreement_sentence(const Study& study) {
  double worst = 0, constant = 0, squares = 0;
  for (const Agreement& a : study.measured.agreement) {
    worst = std::max(worst, a.median_error);
    constant = std::max(constant, a.constant_error);
    squares = std::max(squares, a.squares_error);
  }
  return fmt::format(
      "Measured group times agree with the frozen profile to {:.1f} % (median, worst CP; repeats of the same "
      "group differ "
      "by {:.1f} %); a constant is {:.0f} % off, Σ length²/CP {:.0f} %.",
      100 * worst, 100 * study.measured.repeat_noise_median, 100 * constant, 100 * squares);
}

}  // namespace

std::string name_of(Follows follows) {
  switch (follows) {
    case Follows::kYes:
      return "follows";
    case Follows::kFaster:
      return "falls faster";
    case Follows::kClose:
      return "close";
    case Follows::kNo:
      return "does not follow";
    case Follows::kInconclusive:
      return "inconclusive";
  }
  return {};
}

std::vector<std::string> findings(const StudyRecord& record) {
  const Study& study = record.study;
  const SimulationConfig& config = record.config.simulation;
  std::vector<std::string> list;
  list.push_back(judgement_sentence(fmt::format("Work, simulated ({} steps)", format_count(study.work.steps)),
                                    study.work_judgement));
  list.push_back(judgement_sentence(
      fmt::format("Seconds, measured ({} steps on this CPU)", format_count(study.measured.steps)),
      study.measured_judgement));
  list.push_back(agreement_sentence(study));
  list.push_back(spread_sentence(study.simulated.results, format_size(config.pack.window)));
  if (study.wide)
    list.push_back(spread_sentence(study.wide->results,
                                   format_size(record.config.wide_window) + " of the same lengths (work)"));
  list.push_back(sync_sentence(study));
  list.push_back(efficiency_sentence(study, config.regime));
  if (!study.variants.empty()) list.push_back(variant_sentence(study));
  list.push_back(choice_sentence(record));
  return list;
}

}  // namespace counterpoise
