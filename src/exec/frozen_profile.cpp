// SPDX-License-Identifier: Apache-2.0
#include "exec/frozen_profile.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "counterpoise/error.h"

namespace counterpoise {
namespace {

// The largest whole-document call of the grid: what it took when calibrated.
double calibrated_seconds(const KernelProfile& profile, int64_t tokens) {
  const std::string label = fmt::format("1 x {} tokens, rank 0 of 1", tokens);
  const nlohmann::json record = nlohmann::json::parse(profile.info().calibration);
  for (const auto& entry : record["forward"]["grid"])
    if (entry[0] == label) return entry[1].get<double>();
  CP_CHECK(false);
  return 0;
}

}  // namespace

FrozenProfile::FrozenProfile(const CalibrationOptions& options,
                             const std::function<void(const std::string&, double)>& progress)
    : options_(options), profile_(calibrate_cpu(options, progress)), kernel_(options, options.max_tokens) {}

void FrozenProfile::time_again() {
  const std::vector<WorkShape> call = zigzag_share(options_.max_tokens, 1, 0, profile_->shape());
  again_ = std::min(again_, kernel_.run(call, Direction::kForward));
}

double FrozenProfile::drift() const {
  return again_ / calibrated_seconds(*profile_, options_.max_tokens) - 1;
}

}  // namespace counterpoise
