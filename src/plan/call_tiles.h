// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>
#include <vector>

#include "counterpoise/plan.h"
#include "counterpoise/profile.h"

namespace counterpoise {

// The tiles of one attend op, in order, as a profile sees them.
std::vector<CallTile> call_tiles(const AttentionShape& shape, std::span<const PlanDocument> documents,
                                 std::span<const Tile> tiles);

}  // namespace counterpoise
