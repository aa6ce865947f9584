// SPDX-License-Identifier: Apache-2.0
#include "counterpoise/steady_core.h"

#include <algorithm>

namespace counterpoise {

bool SteadyCore::quiet(const Timing& reference) {
  const double cold = reference();
  const double seconds = std::min(cold, reference());
  quickest_ = quickest_ > 0 ? std::min(quickest_, seconds) : seconds;
  last_quiet_ = seconds <= kSlower * quickest_;
  if (!last_quiet_) lost_ += cold + seconds;
  return last_quiet_;
}

double SteadyCore::time(const Timing& reference, const Timing& run) {
  if (quickest_ == 0)
    for (int i = 0; i < 20; ++i) quiet(reference);
  ++timings_;
  for (;;) {
    while (!last_quiet_ && may_lose()) quiet(reference);
    const bool before = last_quiet_;
    const double seconds = run();
    if ((quiet(reference) && before) || !may_lose()) {
      if (!before || !last_quiet_) ++disturbed_;
      kept_ += seconds;
      return seconds;
    }
    lost_ += seconds;
    ++retaken_;
  }
}

}  // namespace counterpoise
