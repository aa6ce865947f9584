// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <limits>

#include "counterpoise/calibrate_cpu.h"

namespace counterpoise {

// A profile of this CPU, measured when this object is made and never touched again.
class FrozenProfile {
 public:
  FrozenProfile(const CalibrationOptions& options,
                const std::function<void(const std::string&, double)>& progress);

  const KernelProfile* operator->() const { return profile_.get(); }
  const KernelProfile& operator*() const { return *profile_; }

  // Times a call of the calibration again; to be called now and then among other measurements.
  void time_again();
  // How much longer that call took (quickest) than in the calibration, as a share. Nothing is corrected by
  // it.
  double drift() const;

 private:
  CalibrationOptions options_;
  KernelProfilePtr profile_;
  TimedKernel kernel_;
  double again_ = std::numeric_limits<double>::infinity();  // quickest, seconds
};

}  // namespace counterpoise
