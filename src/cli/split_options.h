// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string>

#include "cli/verbs.h"
#include "counterpoise/profile.h"
#include "counterpoise/simulate.h"

namespace counterpoise {

// How a simulated window is split over its group, as the command line spells it.
struct SplitOptions {
  std::string shard = "ideal";
  std::string scheme, links;  // empty: ring; h100-sendrecv, or none where the profile counts pairs
  std::string block = "0", token_cap = "0";
  int32_t inner = 0, ranks_per_node = 0;

  void add_to(CLI::App& verb);
  // Nothing for the ideal split, to which none of the other flags belongs (kUsage).
  std::optional<PlannedSplit> planned(const ProfilePtr& profile, const MemoryShape& shape) const;

 private:
  void require_none() const;
};

}  // namespace counterpoise
