// SPDX-License-Identifier: Apache-2.0
#include "counterpoise/profile_prices.h"

#include <algorithm>
#include <limits>

#include "counterpoise/error.h"
#include "plan/call_tiles.h"

namespace counterpoise {
namespace {

std::optional<LinkCurve> send_recv_of(const Links& links, const std::string& level_name) {
  for (const LinkLevel& level : links.levels) {
    if (level.name != level_name) continue;
    for (const LinkCurve& curve : level.curves) {
      if (curve.op == Collective::kSendRecv && !curve.lines.empty()) return curve;
    }
  }
  return std::nullopt;
}

// The line that is fastest for a message of this size, with what its bytes beyond a cache cost spread over
// all.
Link fastest(const LinkCurve& curve, int64_t bytes) {
  const auto seconds = [&](const LinkLine& line) {
    return line.latency + static_cast<double>(bytes) * line.seconds_per_byte;
  };
  const LinkLine line =
      *std::min_element(curve.lines.begin(), curve.lines.end(),
                        [&](const LinkLine& a, const LinkLine& b) { return seconds(a) < seconds(b); });
  const double far =
      std::max(0.0, static_cast<double>(bytes) - curve.near_bytes) * curve.far_seconds_per_byte;
  const double seconds_per_byte = line.seconds_per_byte + (far > 0 ? far / static_cast<double>(bytes) : 0);
  return {line.latency, 1 / seconds_per_byte};
}

}  // namespace

ProfilePrices::ProfilePrices(ProfilePtr profile, const std::optional<Links>& links, int32_t ranks_per_node)
    : profile_(std::move(profile)), free_(!links), ranks_per_node_(ranks_per_node) {
  if (ranks_per_node < 0)
    throw_error(ErrorKind::kUsage, "ranks per node {}: at least 1, or 0 for one node", ranks_per_node);
  if (!links) return;
  if (profile_->info().unit != "seconds")
    throw_error(
        ErrorKind::kUsage,
        "profile '{}' counts {}, which no message can be compared with: take a profile in seconds, or no "
        "links",
        profile_->info().name, profile_->info().unit);
  links_name_ = links->name;
  node_ = send_recv_of(*links, "node");
  network_ = send_recv_of(*links, "network");
  if (!node_ && ranks_per_node_ != 1)
    throw_error(
        ErrorKind::kUsage,
        "links '{}' have no send_recv curve at level 'node', which the messages of a plan are priced by: "
        "take h100-sendrecv, or links calibrated with send_recv rows",
        links_name_);
}

double ProfilePrices::attend(const AttentionShape& shape, std::span<const PlanDocument> documents,
                             std::span<const Tile> tiles, bool backward) const {
  const double cost = profile_->call_time(call_tiles(shape, documents, tiles),
                                          backward ? Direction::kBackward : Direction::kForward);
  return profile_->info().unit == "pairs" ? cost / shape.heads : cost;
}

Link ProfilePrices::link(int32_t src, int32_t dst, int64_t bytes) const {
  if (free_) return {0, std::numeric_limits<double>::infinity()};
  const bool one_node = ranks_per_node_ == 0 || src / ranks_per_node_ == dst / ranks_per_node_;
  if (one_node) return fastest(*node_, bytes);
  if (network_) return fastest(*network_, bytes);
  throw_error(
      ErrorKind::kUsage,
      "links '{}' have no send_recv curve at level 'network', which messages between nodes of {} ranks "
      "need: take links that have one, or put all ranks in one node",
      links_name_, ranks_per_node_);
}

}  // namespace counterpoise
