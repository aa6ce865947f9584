// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

#include "counterpoise/random.h"

namespace counterpoise {

// What the runs of one call took, in seconds, or of several calls one after another.
struct CallTime {
  double seconds = 0;
  double halves[2] = {};  // of every other run, and of the rest; equal where there was one run
  int64_t runs = 0;

  CallTime& operator+=(const CallTime& next);
  // How far apart runs are that should not be, as a share.
  double difference() const { return std::abs(halves[1] / halves[0] - 1); }
};

struct TimingEffort {
  int64_t least = 1;    // runs of every call, however long they take
  int64_t most = 12;    // runs of a call
  int64_t usual = 1;    // runs on a core as fast as usual that settle a call
  double patience = 3;  // time waited over time run, at most
  double seconds = std::numeric_limits<double>::infinity();  // wall clock
};

// Times many calls on a core that others slow down at times: another machine's hyper-thread takes a third of
// the speed, for tenths of a second or for hours, which no clock of our own shows. Rounds over all calls in
// random order, so that repeats of a call lie far apart. A short reference run, always the same work, twice
// as the first may find cold caches, before and after each run tells how fast the core is. A call's time is
// the median of those of its runs with both references within kBand of the usual one; where there are none,
// the run that came nearest. Runs wait for such a moment, altogether effort.patience times as long as they
// take. Nothing is rescaled. Not thread-safe.
class RepeatedTimings {
 public:
  static constexpr double kBand = 0.04;

  using Reference = std::function<double()>;                      // seconds of the reference run
  using Call = std::function<double(size_t)>;                     // runs call i and returns its seconds
  using PartedCall = std::function<std::vector<double>(size_t)>;  // the same of its parts, always as many
  using Progress = std::function<void(double)>;  // told the share of effort.seconds that is used

  // `usual`: seconds that the reference usually takes, where that is given; 0: what it usually takes now.
  RepeatedTimings(Reference reference, RandomStream random, double usual = 0)
      : reference_(std::move(reference)), random_(random), given_(usual), usual_(usual) {}

  // Of calls 0 ... calls - 1.
  std::vector<CallTime> time(size_t calls, const Call& call, const TimingEffort& effort,
                             const Progress& progress = {});
  // The same, [call][part].
  std::vector<std::vector<CallTime>> time_parts(size_t calls, const PartedCall& call,
                                                const TimingEffort& effort, const Progress& progress = {});

  int64_t timings() const { return timings_; }  // calls timed
  int64_t retaken() const { return retaken_; }  // runs beyond those that a core of one's own takes
  int64_t unusual() const { return unusual_; }  // calls of which no run found the core as fast as usual
  double usual_reference() const;               // seconds, median of those beside runs
  // How much longer the reference usually takes than the given `usual`, as a share; 0 where none was given.
  double drift() const { return given_ > 0 ? usual_reference() / given_ - 1 : 0; }

 private:
  struct Run {
    std::vector<double> seconds;   // of the parts
    double before = 0, after = 0;  // references
  };
  using Runs = std::vector<Run>;

  double run_reference();
  double sample_reference();
  double distance(double reference) const;
  double distance(const Run& run) const;
  double wait_for_usual(double reference, double patience);
  void run_rounds(std::vector<Runs>& all, const PartedCall& call, const TimingEffort& effort,
                  const Progress& progress);
  bool settled(const Runs& runs, const TimingEffort& effort) const;
  int64_t usual_runs(const Runs& runs) const;
  double seconds_of(const Runs& runs, size_t part) const;
  CallTime call_time(const Runs& runs, size_t part) const;

  Reference reference_;
  RandomStream random_;
  double given_, usual_;            // seconds of the reference
  std::vector<double> references_;  // all but those of waiting
  double waited_ = 0, worked_ = 0;  // seconds
  int64_t timings_ = 0, retaken_ = 0, unusual_ = 0;
};

}  // namespace counterpoise
