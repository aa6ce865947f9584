// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>

namespace counterpoise {

// Timings that somebody else's work on the same core would have slowed (another machine's hyper-thread takes
// a third of the speed, for a fraction of a second at a time) are taken again. A short reference run, twice
// as the first may find cold caches, before and after each timing tells: disturbed is what takes kSlower
// times its quickest so far. Nothing is rescaled. Waiting and runs thrown away may take as long as the runs
// that are kept, and kAllowance; where that is spent, a run counts as it is. Not thread-safe.
class SteadyCore {
 public:
  static constexpr double kSlower = 1.1;
  static constexpr double kAllowance = 0.5;  // seconds

  using Timing = std::function<double()>;  // does something and returns its seconds

  // Seconds of `run`, of one that `reference` (always the same work) found undisturbed on both sides.
  double time(const Timing& reference, const Timing& run);

  int64_t timings() const { return timings_; }
  int64_t retaken() const { return retaken_; }      // runs thrown away
  int64_t disturbed() const { return disturbed_; }  // timings kept although disturbed

 private:
  bool quiet(const Timing& reference);
  bool may_lose() const { return lost_ < kept_ + kAllowance; }

  double quickest_ = 0;         // 0: no reference yet
  double kept_ = 0, lost_ = 0;  // seconds
  bool last_quiet_ = false;
  int64_t timings_ = 0, retaken_ = 0, disturbed_ = 0;
};

}  // namespace counterpoise
