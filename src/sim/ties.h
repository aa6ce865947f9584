// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace counterpoise {

// Sums of the same costs in another order differ by a few ulp. Costs this close, relative to their size, are
// equal; anything further apart is a real difference.
inline constexpr double kTie = 1e-12;

// What counts as a ratio below two: one of exactly two is not, however its times were rounded.
inline constexpr double kBelowTwo = 2 * (1 - kTie);

}  // namespace counterpoise
