// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string>

#include "counterpoise/links.h"
#include "counterpoise/prices.h"
#include "counterpoise/profile.h"

namespace counterpoise {

// Prices of a plan's ops from a profile and links. Calls: Profile::call_time, over shape.heads where the
// profile counts pairs, so that a unit is a pair of one head as in Profile::piece_time. Merges and the
// gradient's all-reduce cost nothing. Messages: the send_recv curve of the level, its fastest line for their
// size.
class ProfilePrices final : public Prices {
 public:
  // No links: messages are free. ranks_per_node 0: all ranks are in one node, else they are filled node by
  // node. kUsage where links are given to a profile that counts pairs, or have no send_recv curve.
  ProfilePrices(ProfilePtr profile, const std::optional<Links>& links, int32_t ranks_per_node);

  // kUsage for a backward that the profile does not know.
  double attend(const AttentionShape& shape, std::span<const PlanDocument> documents,
                std::span<const Tile> tiles, bool backward) const override;
  double merge(const Buffer&) const override { return 0; }
  // kUsage between nodes where the links have no level "network".
  Link link(int32_t src, int32_t dst, int64_t bytes) const override;
  double all_reduce(int32_t) const override { return 0; }

 private:
  ProfilePtr profile_;
  std::string links_name_;
  std::optional<LinkCurve> node_, network_;
  bool free_;
  int32_t ranks_per_node_;
};

}  // namespace counterpoise
