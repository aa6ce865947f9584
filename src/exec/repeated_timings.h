// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

#include "counterpoise/random.h"

namespace counterpoise {

// Runs of one call. What others do on the same core only lengthens a run: the quickest counts.
struct Repeats {
  struct Run {
    double seconds = 0;
    double reference = 0;  // slower of the reference runs before and after; 0: there is none
  };
  std::vector<Run> runs;

  double best() const;            // of all runs, of which there is at least one
  double half(int parity) const;  // best of every other run: 0 the first, third ..., 1 the second, fourth ...
};

struct TimingEffort {
  int64_t least = 1;                                         // runs of every call, however long they take
  int64_t most = 12;                                         // runs of a call
  int64_t undisturbed = 1;                                   // runs that settle a call
  double seconds = std::numeric_limits<double>::infinity();  // wall clock
};

// Times many calls on a core that others slow down at times: another machine's hyper-thread takes a third of
// the speed, for tenths of a second or for minutes, which no clock of our own shows. Rounds over all calls in
// random order, so that repeats of a call lie far apart. A short reference run, always the same work, twice
// as the first may find cold caches, before and after each run: a run is disturbed where it takes more than
// kSlower times its quickest so far. Runs wait for a quiet moment, altogether kPatience times as long as they
// take. Nothing is rescaled. Not thread-safe.
class RepeatedTimings {
 public:
  static constexpr double kSlower = 1.1;
  static constexpr double kPatience = 3;

  using Reference = std::function<double()>;     // seconds of the reference run
  using Call = std::function<double(size_t)>;    // runs call i and returns its seconds
  using Progress = std::function<void(double)>;  // told the share of effort.seconds that is used

  // Without a reference nothing is known to be undisturbed, and all calls are run until time is out.
  explicit RepeatedTimings(RandomStream random, Reference reference = {})
      : reference_(std::move(reference)), random_(random) {}

  // Of calls 0 ... calls - 1.
  std::vector<Repeats> time(size_t calls, const Call& call, const TimingEffort& effort,
                            const Progress& progress = {});

  int64_t timings() const { return timings_; }      // calls timed
  int64_t retaken() const { return retaken_; }      // runs beyond those that a quiet core takes
  int64_t disturbed() const { return disturbed_; }  // calls of which every run was disturbed

 private:
  double run_reference();
  bool quiet(double reference) const { return reference <= kSlower * quickest_; }
  double wait_for_quiet(double reference);
  bool settled(const Repeats& repeats, const TimingEffort& effort) const;
  int64_t undisturbed(const Repeats& repeats) const;
  void account(const std::vector<Repeats>& all, const TimingEffort& effort);

  Reference reference_;
  RandomStream random_;
  double quickest_ = std::numeric_limits<double>::infinity();  // reference
  double waited_ = 0, worked_ = 0;                             // seconds
  int64_t timings_ = 0, retaken_ = 0, disturbed_ = 0;
};

}  // namespace counterpoise
