// SPDX-License-Identifier: Apache-2.0
#include "exec/key_sharing.h"

#include <algorithm>

#include "counterpoise/error.h"

namespace counterpoise {

KeySharing::KeySharing(const WindowPlan& window, const Pass& pass,
                       const std::function<bool(int32_t)>& same_node)
    : window_(&window), pass_(&pass), arrivals_(pass.buffers.size()) {
  for (size_t i = 0; i < pass.transfers.size(); ++i) {
    if (pass.transfers[i].payload != Payload::kKv) continue;
    arrivals_[static_cast<size_t>(pass.transfers[i].into)].push_back(static_cast<int32_t>(i));
  }
  in_place_.assign(pass.buffers.size(), 0);
  decided_ = in_place_;
  for (size_t buffer = 0; buffer < pass.buffers.size(); ++buffer)
    decide(static_cast<int32_t>(buffer), same_node);
}

bool KeySharing::decide(int32_t index, const std::function<bool(int32_t)>& same_node) {
  const auto at = static_cast<size_t>(index);
  if (decided_[at] != 0) return in_place_[at] != 0;
  decided_[at] = 1;
  const Buffer& buffer = pass_->buffers[at];
  if (buffer.home || buffer.payload != Payload::kKv || !same_node(buffer.rank)) return false;
  for (const int32_t arrival : arrivals_[at]) {
    const Transfer& transfer = pass_->transfers[static_cast<size_t>(arrival)];
    const bool from_home = pass_->buffers[static_cast<size_t>(transfer.from)].home;
    if (!same_node(transfer.src) || !(from_home || decide(transfer.from, same_node))) return false;
  }
  in_place_[at] = pieces_arrive_whole(index);
  return in_place_[at] != 0;
}

// Every piece of the buffer is a piece of exactly one transfer, so that a tile never straddles two memories.
bool KeySharing::pieces_arrive_whole(int32_t index) const {
  std::vector<std::pair<int32_t, Range>> arriving, wanted;
  for (const int32_t arrival : arrivals_[static_cast<size_t>(index)]) {
    for (const PlanPiece& piece : window_->list(pass_->transfers[static_cast<size_t>(arrival)].pieces)) {
      arriving.emplace_back(piece.document, piece.range);
    }
  }
  for (const PlanPiece& piece : window_->list(pass_->buffers[static_cast<size_t>(index)].pieces)) {
    wanted.emplace_back(piece.document, piece.range);
  }
  std::sort(arriving.begin(), arriving.end());
  return arriving == wanted;
}

int32_t KeySharing::source(int32_t buffer, int32_t document, int64_t position) const {
  for (const int32_t arrival : arrivals_[static_cast<size_t>(buffer)]) {
    const Transfer& transfer = pass_->transfers[static_cast<size_t>(arrival)];
    if (row_of(window_->list(transfer.pieces), document, position) >= 0) return arrival;
  }
  CP_CHECK(false);
  return -1;
}

}  // namespace counterpoise
