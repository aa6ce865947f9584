// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

namespace counterpoise {

// Seconds of the monotonic clock, for differences.
double wall_seconds();

// The mean of the two middle values where their number is even. `values` is not empty.
double median_of(std::vector<double> values);

}  // namespace counterpoise
