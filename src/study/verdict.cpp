// SPDX-License-Identifier: Apache-2.0
#include "study/verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace counterpoise {
namespace {

constexpr double kPrecise = 0.30;        // half-width of a conclusive interval, of 1/CP
constexpr double kClose = 0.10;          // deviation from 1/CP still called close
constexpr double kSharedWindows = 0.05;  // autocorrelation above which windows are not independent
constexpr double kHeavyTail = 2;  // below this tail index the variance is set by the largest value seen
constexpr double kTie = 0.005;

// From bad to good news.
int rank_of(Follows follows) {
  switch (follows) {
    case Follows::kNo:
      return 0;
    case Follows::kInconclusive:
      return 1;
    case Follows::kClose:
      return 2;
    case Follows::kFaster:
      return 3;
    case Follows::kYes:
      return 4;
  }
  return 0;
}

// How much wider than one 95 % interval n of them must be to hold all at once with 95 % (normal quantiles at
// 0.05 / n, Bonferroni).
double simultaneous_factor(int64_t n) {
  constexpr double kFactor[] = {1, 1, 1.144, 1.221, 1.274, 1.314, 1.346};
  return kFactor[std::clamp<int64_t>(n, 1, 6)];
}

// The interval narrows with the square root of the steps.
int64_t steps_for_precision(const Estimate& ratio, int64_t cp, int64_t steps) {
  const double goal = kPrecise / static_cast<double>(cp);
  const double factor = ratio.half_width() / goal;
  return static_cast<int64_t>(std::ceil(static_cast<double>(steps) * std::max(factor * factor, 1.1)));
}

std::string reason_for(const Suspects& suspects) {
  if (suspects.growing_windows)
    return "windows grow with CP, so nothing is averaged and longer documents stay whole";
  if (suspects.neighbour_correlation && *suspects.neighbour_correlation > kSharedWindows)
    return fmt::format("neighbouring windows share documents (correlation {:.2f})",
                       *suspects.neighbour_correlation);
  if (suspects.tail_index && *suspects.tail_index < kHeavyTail)
    return fmt::format(
        "the tail of window cost is so heavy (index {:.2f} < 2) that its variance is set by a few windows",
        *suspects.tail_index);
  return "splitting changes the kernel's efficiency differently for short and long documents";
}

}  // namespace

Follows judge_ratio(const Estimate& ratio, int64_t cp, int64_t comparisons) {
  const double expected = 1.0 / static_cast<double>(cp);
  const double half = ratio.half_width() * simultaneous_factor(comparisons);
  const double low = ratio.value - half, high = ratio.value + half;
  if (high < expected) return Follows::kFaster;
  if (low > expected) return ratio.value <= expected * (1 + kClose) ? Follows::kClose : Follows::kNo;
  return ratio.half_width() <= kPrecise * expected && high < 1 ? Follows::kYes : Follows::kInconclusive;
}

Judgement judge(const std::vector<RatioAtCp>& ratios, int64_t steps, const Suspects& suspects) {
  const auto compared =
      std::count_if(ratios.begin(), ratios.end(), [](const RatioAtCp& at) { return at.cp > 1 && at.ratio; });
  Judgement worst;
  for (const RatioAtCp& at : ratios) {
    if (at.cp == 1 || !at.ratio) continue;
    const Follows follows = judge_ratio(*at.ratio, at.cp, compared);
    if (worst.ratio && rank_of(follows) > rank_of(worst.follows)) continue;
    worst = {follows, at.cp, at.ratio, {}, {}};
    if (follows == Follows::kInconclusive) worst.needed_steps = steps_for_precision(*at.ratio, at.cp, steps);
    if (follows == Follows::kNo) worst.reason = reason_for(suspects);
  }
  return worst;
}

std::optional<int64_t> below_two_from(const std::vector<CpResult>& results) {
  std::optional<int64_t> from;
  for (const CpResult& r : results) {
    if (!r.all.judged()) continue;
    const bool below = r.all.max_over_min.p50 && *r.all.max_over_min.p50 < 2;
    if (!below)
      from.reset();
    else if (!from)
      from = r.cp;
  }
  return from;
}

int64_t choose_cp(const SimulationResult& result, Sync sync) {
  auto slowest = [&](const CpResult& r) {
    return sync == Sync::kStep ? r.all.step_seconds : r.all.micro_batch_seconds;
  };
  const CpResult* best = &result.results.front();
  for (const CpResult& r : result.results)
    if (slowest(r) < slowest(*best) * (1 - kTie)) best = &r;
  return best->cp;
}

std::vector<double> efficiency_cost(const SimulationResult& result) {
  std::vector<double> cost;
  const double base = result.results.front().all.mean;
  for (const CpResult& r : result.results) cost.push_back(base > 0 ? r.all.mean / base - 1 : 0);
  return cost;
}

}  // namespace counterpoise
