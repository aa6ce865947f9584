// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>

#include "sim/law_distribution.h"

namespace counterpoise {

// E[max] over `groups` independent costs.
double expected_max(const CostDistribution& distribution, int64_t groups);

// E[max / mean] over `groups` independent costs; all of them zero counts as 1.
double expected_max_over_mean(const Cells& cells, int64_t groups);

// E[max / min]; every value must be above 0. Quadratic in the cells.
double expected_max_over_min(const Cells& cells, int64_t groups);

// P(max / min < ratio, min > 0), ratio >= 1; with `or_equal`, <=. Values within 1e-12 of each other count as
// equal, so that means of the same integers tie however they were rounded.
double share_of_ratios_below(const Cells& cells, int64_t groups, double ratio, bool or_equal);

// Smallest r with P(max / min <= r) >= q; null where that is infinite (zero costs).
std::optional<double> quantile_of_max_over_min(const Cells& cells, int64_t groups, double q);

}  // namespace counterpoise
