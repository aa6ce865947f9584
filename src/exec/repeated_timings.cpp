// SPDX-License-Identifier: Apache-2.0
#include "exec/repeated_timings.h"

#include <algorithm>

#include "counterpoise/error.h"
#include "exec/timing.h"

namespace counterpoise {

double RepeatedTimings::run_reference() {
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

int64_t RepeatedTimings::undisturbed(const Runs& runs) const {
  return std::ranges::count_if(runs, [this](const Run& run) { return quiet(run.reference); });
}

bool RepeatedTimings::settled(const Runs& runs, const TimingEffort& effort) const {
  const auto count = static_cast<int64_t>(runs.size());
  if (count < effort.least) return false;
  return count >= effort.most || undisturbed(runs) >= effort.undisturbed;
}

double RepeatedTimings::usual_reference() const {
  return median_of(references_);
}

// Rounds over the calls that are not settled.
void RepeatedTimings::run_rounds(std::vector<Runs>& all, const PartedCall& call, const TimingEffort& effort,
                                 const Progress& progress) {
  const double begin = wall_seconds();
  for (int64_t round = 0;; ++round) {
    std::vector<size_t> open;
    for (size_t i = 0; i < all.size(); ++i)
      if (!settled(all[i], effort)) open.push_back(i);
    if (open.empty()) return;
    random_.shuffle(std::span(open));
    double before = run_reference();
    for (const size_t i : open) {
      const double spent = wall_seconds() - begin;
      if (round >= effort.least && spent > effort.seconds) return;
      if (progress) progress(std::min(1.0, spent / effort.seconds));
      before = wait_for_quiet(before);
      const double start = wall_seconds();
      std::vector<double> seconds = call(i);
      worked_ += wall_seconds() - start;
      const double after = run_reference();
      references_.push_back(std::max(before, after));
      all[i].push_back({std::move(seconds), references_.back()});
      before = after;
    }
  }
}

double RepeatedTimings::seconds_of(const Runs& runs, size_t part) const {
  std::vector<double> quiet_ones, any;
  for (const Run& run : runs) (quiet(run.reference) ? quiet_ones : any).push_back(run.seconds[part]);
  return quiet_ones.empty() ? *std::ranges::min_element(any) : median_of(quiet_ones);
}

CallTime RepeatedTimings::call_time(const Runs& runs, size_t part) const {
  CallTime time;
  time.runs = static_cast<int64_t>(runs.size());
  time.seconds = seconds_of(runs, part);
  Runs halves[2];
  for (size_t i = 0; i < runs.size(); ++i) halves[i % 2].push_back(runs[i]);
  for (int i = 0; i < 2; ++i) time.halves[i] = halves[i].empty() ? time.seconds : seconds_of(halves[i], part);
  return time;
}

std::vector<std::vector<CallTime>> RepeatedTimings::time_parts(size_t calls, const PartedCall& call,
                                                               const TimingEffort& effort,
                                                               const Progress& progress) {
  CP_CHECK(effort.least >= 1 && effort.most >= effort.least && effort.undisturbed >= 1);
  std::vector<Runs> all(calls);
  run_rounds(all, call, effort, progress);
  std::vector<std::vector<CallTime>> times(calls);
  for (size_t i = 0; i < calls; ++i) {
    const Runs& runs = all[i];
    for (size_t part = 0; part < runs.front().seconds.size(); ++part)
      times[i].push_back(call_time(runs, part));
    retaken_ +=
        std::max<int64_t>(0, static_cast<int64_t>(runs.size()) - std::max(effort.least, effort.undisturbed));
    disturbed_ += undisturbed(runs) == 0 ? 1 : 0;
  }
  timings_ += static_cast<int64_t>(calls);
  return times;
}

std::vector<CallTime> RepeatedTimings::time(size_t calls, const Call& call, const TimingEffort& effort,
                                            const Progress& progress) {
  const PartedCall parted = [&](size_t i) { return std::vector<double>{call(i)}; };
  std::vector<CallTime> times;
  for (const std::vector<CallTime>& parts : time_parts(calls, parted, effort, progress))
    times.push_back(parts.front());
  return times;
}

}  // namespace counterpoise
