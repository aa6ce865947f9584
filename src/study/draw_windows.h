// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "counterpoise/simulate.h"

namespace counterpoise {

// Up to `count` windows of a run as a trainer meets them (packed, then shuffled or left in stream order);
// fewer where a corpus ends.
std::vector<Window> draw_windows(const Lengths& lengths, const SimulationConfig& config,
                                 int64_t window_tokens, int64_t count, uint64_t part);

}  // namespace counterpoise
