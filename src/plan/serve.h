// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "counterpoise/scheme.h"

namespace counterpoise {

// Attention work levelled over the ranks of a window: queries move from ranks above the mean area to ranks
// below. A rank that receives ends at most at the mean (rounded up). A rank that gives up stops when the last
// of its queries is more than its surplus or than anybody's room, so at most cp queries' area above the mean.
// Sorted by (rank, holder, document, q).
std::vector<Work> level_work(std::span<const int64_t> lengths, const Placement& placement, Mask mask);

}  // namespace counterpoise
