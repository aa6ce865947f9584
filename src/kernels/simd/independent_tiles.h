// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <span>
#include <vector>

#include "counterpoise/attention.h"

namespace counterpoise {

// Cuts the tiles, in their order, into batches that touch no row of q or kv of another batch, as documents of
// a packed batch do: each is at least `enough` in weight, as far as rows allow, and no longer than that
// needs.
std::vector<std::span<const AttentionTile>> independent_tiles(
    std::span<const AttentionTile> tiles, int64_t enough,
    const std::function<int64_t(const AttentionTile&)>& weight);

}  // namespace counterpoise
