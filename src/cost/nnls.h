// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

namespace counterpoise {

// The x >= 0 that minimises |A x - b|^2 for a tall A of at most 16 columns, given by rows. Tries every set
// of positive coefficients: exact and free of cycling, 2^columns small solves. Columns that are linearly
// dependent on others are left at zero. Deterministic.
std::vector<double> nonnegative_least_squares(const std::vector<std::vector<double>>& rows,
                                              const std::vector<double>& right);

}  // namespace counterpoise
