// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <vector>

#include "counterpoise/plan.h"

namespace counterpoise {

// Which buffers of keys and values a rank need not have, because it can read the holders' own memory: those
// all of whose pieces come, over ranks that see each other's memory, from pieces of a holder's home buffer.
// Decided from the plan alone, so that sender and receiver agree without a word.
class KeySharing {
 public:
  KeySharing() = default;
  // `same_node(rank)`: this rank and that one read each other's memory. Answers below hold for buffers of
  // such ranks; for all others nothing is shared.
  KeySharing(const WindowPlan& window, const Pass& pass, const std::function<bool(int32_t)>& same_node);

  bool in_place(int32_t buffer) const {
    return !in_place_.empty() && in_place_[static_cast<size_t>(buffer)] != 0;
  }
  // The transfer that brings token `position` of `document` into an in-place buffer.
  int32_t source(int32_t buffer, int32_t document, int64_t position) const;

 private:
  bool decide(int32_t buffer, const std::function<bool(int32_t)>& same_node);
  bool pieces_arrive_whole(int32_t buffer) const;

  const WindowPlan* window_ = nullptr;
  const Pass* pass_ = nullptr;
  std::vector<std::vector<int32_t>> arrivals_;  // transfers into a buffer
  std::vector<char> in_place_, decided_;
};

}  // namespace counterpoise
