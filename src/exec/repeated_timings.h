// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

#include "counterpoise/random.h"

namespace counterpoise {

// What the runs of one call took, in seconds.
struct CallTime {
  double seconds = 0;
  double halves[2] = {};  // of every other run, and of the rest; equal where there was one run
  int64_t runs = 0;
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
// take. A call's time is the median of its undisturbed runs; where there are none, the quickest, as what
// others do only lengthens a run. Nothing is rescaled. Not thread-safe.
class RepeatedTimings {
 public:
  static constexpr double kSlower = 1.07;
  static constexpr double kPatience = 3;

  using Reference = std::function<double()>;                      // seconds of the reference run
  using Call = std::function<double(size_t)>;                     // runs call i and returns its seconds
  using PartedCall = std::function<std::vector<double>(size_t)>;  // the same of its parts, always as many
  using Progress = std::function<void(double)>;  // told the share of effort.seconds that is used

  // `quickest`: seconds of the reference on the same core undisturbed, where known from before; 0: not known.
  RepeatedTimings(Reference reference, RandomStream random, double quickest = 0)
      : reference_(std::move(reference)),
        random_(random),
        quickest_(quickest > 0 ? quickest : std::numeric_limits<double>::infinity()) {}

  // Of calls 0 ... calls - 1.
  std::vector<CallTime> time(size_t calls, const Call& call, const TimingEffort& effort,
                             const Progress& progress = {});
  // The same, [call][part].
  std::vector<std::vector<CallTime>> time_parts(size_t calls, const PartedCall& call,
                                                const TimingEffort& effort, const Progress& progress = {});

  int64_t timings() const { return timings_; }             // calls timed
  int64_t retaken() const { return retaken_; }             // runs beyond those that a quiet core takes
  int64_t disturbed() const { return disturbed_; }         // calls of which every run was disturbed
  double quickest_reference() const { return quickest_; }  // seconds
  double usual_reference() const;                          // median over the runs
  // How much longer the reference usually took than `calibrated` seconds, as a share; 0 where those are 0.
  double drift(double calibrated) const { return calibrated > 0 ? usual_reference() / calibrated - 1 : 0; }

 private:
  struct Run {
    std::vector<double> seconds;  // of the parts
    double reference = 0;         // slower of the reference runs before and after
  };
  using Runs = std::vector<Run>;
  void run_rounds(std::vector<Runs>& all, const PartedCall& call, const TimingEffort& effort,
                  const Progress& progress);
  double run_reference();
  bool quiet(double reference) const { return reference <= kSlower * quickest_; }
  double wait_for_quiet(double reference);
  bool settled(const Runs& runs, const TimingEffort& effort) const;
  int64_t undisturbed(const Runs& runs) const;
  double seconds_of(const Runs& runs, size_t part) const;
  CallTime call_time(const Runs& runs, size_t part) const;

  Reference reference_;
  RandomStream random_;
  double quickest_;                 // seconds of the reference
  std::vector<double> references_;  // of the runs
  double waited_ = 0, worked_ = 0;  // seconds
  int64_t timings_ = 0, retaken_ = 0, disturbed_ = 0;
};

}  // namespace counterpoise
