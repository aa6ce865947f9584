// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "counterpoise/study.h"

namespace counterpoise {

// The lengths without the documents longer than their p-quantile (0.99: without the longest 1 %).
Lengths without_tail(const Lengths& lengths, double p);

// Packing (concat, best_fit_decreasing) x tail (kept, dropped above p99) at CP = 1 and the largest judged CP
// of the sweep, with `steps` simulated steps.
std::vector<Variant> compare_variants(const Lengths& lengths, const PieceTime& piece_time,
                                      const SimulationConfig& config);

}  // namespace counterpoise
