// SPDX-License-Identifier: Apache-2.0
#include "exec/repeated_timings.h"

#include <algorithm>
#include <cmath>

#include "counterpoise/error.h"
#include "exec/timing.h"

namespace counterpoise {
namespace {

constexpr int kFirstReferences = 50;  // before anything is known of what is usual

}  // namespace

CallTime& CallTime::operator+=(const CallTime& next) {
  seconds += next.seconds;
  for (int i = 0; i < 2; ++i) halves[i] += next.halves[i];
  runs += next.runs;
  return *this;
}

double RepeatedTimings::run_reference() {
  const double cold = reference_();
  return std::min(cold, reference_());
}

double RepeatedTimings::sample_reference() {
  references_.push_back(run_reference());
  return references_.back();
}

double RepeatedTimings::usual_reference() const {
  return median_of(references_);
}

// From the usual one, as a share of it.
double RepeatedTimings::distance(double reference) const {
  return std::abs(reference / usual_ - 1);
}

double RepeatedTimings::distance(const Run& run) const {
  return std::max(distance(run.before), distance(run.after));
}

// The reference when the core is as fast as usual, or when patience is out. What is seen meanwhile does not
// count towards what is usual: unusual moments would count in proportion to the patience with them.
double RepeatedTimings::wait_for_usual(double reference, double patience) {
  while (distance(reference) > kBand && waited_ < patience * worked_) {
    reference = run_reference();
    waited_ += 2 * reference;
  }
  return reference;
}

int64_t RepeatedTimings::usual_runs(const Runs& runs) const {
  return std::ranges::count_if(runs, [this](const Run& run) { return distance(run) <= kBand; });
}

bool RepeatedTimings::settled(const Runs& runs, const TimingEffort& effort) const {
  const auto count = static_cast<int64_t>(runs.size());
  if (count < effort.least) return false;
  return count >= effort.most || usual_runs(runs) >= effort.usual;
}

// Rounds over the calls that are not settled.
void RepeatedTimings::run_rounds(std::vector<Runs>& all, const PartedCall& call, const TimingEffort& effort,
                                 const Progress& progress) {
  const double begin = wall_seconds();
  for (int64_t round = 0;; ++round) {
    if (given_ == 0) usual_ = usual_reference();
    std::vector<size_t> open;
    for (size_t i = 0; i < all.size(); ++i)
      if (!settled(all[i], effort)) open.push_back(i);
    if (open.empty()) return;
    random_.shuffle(std::span(open));
    double before = sample_reference();
    for (const size_t i : open) {
      const double spent = wall_seconds() - begin;
      if (round >= effort.least && spent > effort.seconds) return;
      if (progress) progress(std::min(1.0, spent / effort.seconds));
      before = wait_for_usual(before, effort.patience);
      const double start = wall_seconds();
      std::vector<double> seconds = call(i);
      worked_ += wall_seconds() - start;
      const double after = sample_reference();
      all[i].push_back({std::move(seconds), before, after});
      before = after;
    }
  }
}

double RepeatedTimings::seconds_of(const Runs& runs, size_t part) const {
  std::vector<double> usual;
  for (const Run& run : runs)
    if (distance(run) <= kBand) usual.push_back(run.seconds[part]);
  if (!usual.empty()) return median_of(usual);
  const auto nearest = std::ranges::min_element(
      runs, [this](const Run& a, const Run& b) { return distance(a) < distance(b); });
  return nearest->seconds[part];
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
  CP_CHECK(effort.least >= 1 && effort.most >= effort.least && effort.usual >= 1);
  while (references_.size() < kFirstReferences) sample_reference();
  std::vector<Runs> all(calls);
  run_rounds(all, call, effort, progress);
  std::vector<std::vector<CallTime>> times(calls);
  for (size_t i = 0; i < calls; ++i) {
    const Runs& runs = all[i];
    for (size_t part = 0; part < runs.front().seconds.size(); ++part)
      times[i].push_back(call_time(runs, part));
    retaken_ +=
        std::max<int64_t>(0, static_cast<int64_t>(runs.size()) - std::max(effort.least, effort.usual));
    unusual_ += usual_runs(runs) == 0 ? 1 : 0;
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
