// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <span>
#include <string>

#include "counterpoise/cost_model.h"
#include "counterpoise/links.h"
#include "counterpoise/profile.h"

namespace counterpoise {

// A profile fitted to measured kernel calls: prices documents, as every profile does, and whole calls.
class KernelProfile : public Profile {
 public:
  KernelProfile(ProfileInfo info, CostModel model, CostShape shape)
      : Profile(std::move(info)), model_(std::move(model)), shape_(shape) {}

  const CostModel& model() const { return model_; }
  // The heads that piece_time prices; call_seconds takes those of its tiles.
  const CostShape& shape() const { return shape_; }

  // Seconds of one kernel call over these tiles, launch included.
  double call_seconds(std::span<const WorkShape> tiles, Direction direction = Direction::kForward) const {
    return model_.call_seconds(tiles, direction);
  }

  // Forward seconds of one rank's per-document zigzag share (see zigzag_share), mean over the cp ranks,
  // without launch; residual corrections, which belong to whole calls, are left out.
  double piece_time(int64_t length, int64_t cp) const override;
  double call_time(std::span<const CallTile> call, Direction direction) const override;
  bool extrapolated(int64_t length, int64_t cp) const override;
  std::string model_json() const override;

 private:
  CostModel model_;
  CostShape shape_;
};

using KernelProfilePtr = std::shared_ptr<const KernelProfile>;

// The same profile with `links` beside it.
KernelProfilePtr with_links(const KernelProfile& profile, const Links& links);

// load_profile, of a profile that prices calls; kUsage for one that only knows documents.
KernelProfilePtr load_kernel_profile(const std::string& name_or_path);

}  // namespace counterpoise
