// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "kernels/backend.h"
#include "kernels/strips.h"

namespace counterpoise {

constexpr int kMaxPanelsPerItem = 8;

// One head's queries of up to kMaxPanelsPerItem panels: the unit a thread takes.
struct ForwardItem {
  const Strip* strip;
  Range rows;
  int64_t head;
  int64_t pairs;
};

// Blocks of queries per strip and head, the most work first so that no thread is left with a long one.
// `strips` must outlive the items.
std::vector<ForwardItem> forward_items(const AttentionProblem& problem, const std::vector<Strip>& strips,
                                       int64_t width);

}  // namespace counterpoise
