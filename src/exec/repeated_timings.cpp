// SPDX-License-Identifier: Apache-2.0
#include "exec/repeated_timings.h"

#include <algorithm>

#include "counterpoise/error.h"
#include "exec/timing.h"

namespace counterpoise {

double Repeats::best() const {
  return std::min(half(0), half(1));
}

double Repeats::half(int parity) const {
  double seconds = std::numeric_limits<double>::infinity();
  for (size_t i = static_cast<size_t>(parity); i < runs.size(); i += 2)
    seconds = std::min(seconds, runs[i].seconds);
  return seconds;
}

double RepeatedTimings::run_reference() {
  if (!reference_) return 0;
  const double cold = reference_();
  const double seconds = std::min(cold, reference_());
  quickest_ = std::min(quickest_, seconds);
  return seconds;
}

// The reference when the core is quiet, or when patience is out.
double RepeatedTimings::wait_for_quiet(double reference) {
  while (!quiet(reference) && waited_ < kPatience * worked_) {
    reference = run_reference();
    waited_ += 2 * reference;
  }
  return reference;
}

int64_t RepeatedTimings::undisturbed(const Repeats& repeats) const {
  return std::ranges::count_if(
      repeats.runs, [this](const Repeats::Run& run) { return run.reference > 0 && quiet(run.reference); });
}

bool RepeatedTimings::settled(const Repeats& repeats, const TimingEffort& effort) const {
  const auto runs = static_cast<int64_t>(repeats.runs.size());
  if (runs < effort.least) return false;
  return runs >= effort.most || undisturbed(repeats) >= effort.undisturbed;
}

std::vector<Repeats> RepeatedTimings::time(size_t calls, const Call& call, const TimingEffort& effort,
                                           const Progress& progress) {
  CP_CHECK(effort.least >= 1 && effort.most >= effort.least && effort.undisturbed >= 1);
  const double begin = wall_seconds();
  std::vector<Repeats> all(calls);
  for (int64_t round = 0;; ++round) {
    std::vector<size_t> open;
    for (size_t i = 0; i < calls; ++i)
      if (!settled(all[i], effort)) open.push_back(i);
    if (open.empty()) break;
    random_.shuffle(std::span(open));
    double before = run_reference();
    for (const size_t i : open) {
      const double spent = wall_seconds() - begin;
      if (round >= effort.least && spent > effort.seconds) {
        account(all, effort);
        return all;
      }
      if (progress) progress(std::min(1.0, spent / effort.seconds));
      before = wait_for_quiet(before);
      const double seconds = call(i);
      worked_ += seconds;
      const double after = run_reference();
      all[i].runs.push_back({seconds, std::max(before, after)});
      before = after;
    }
  }
  account(all, effort);
  return all;
}

void RepeatedTimings::account(const std::vector<Repeats>& all, const TimingEffort& effort) {
  timings_ += static_cast<int64_t>(all.size());
  if (!reference_) return;
  for (const Repeats& repeats : all) {
    const auto runs = static_cast<int64_t>(repeats.runs.size());
    retaken_ += std::max<int64_t>(0, runs - std::max(effort.least, effort.undisturbed));
    disturbed_ += undisturbed(repeats) == 0 ? 1 : 0;
  }
}

}  // namespace counterpoise
