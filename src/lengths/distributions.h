// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string_view>

#include "counterpoise/lengths.h"

namespace counterpoise {

// "lognormal(median=3k,sigma=1.2,max=128k)", "uniform(min=0,max=8k)", "pareto(min=1k,alpha=1.5,max=1M)",
// "constant(4k)", "mixture(0.9*lognormal(...)+0.1*constant(128k))", as bins. A length is the continuous
// variable rounded to the nearest token, conditioned on 1..max (the tail above max is cut, not piled up).
// Without max, lognormal and pareto end at the length that one document in a million exceeds, at most 1M.
// Throws kUsage naming the distribution, the parameter and what would be right.
Lengths distribution_lengths(std::string_view text);

}  // namespace counterpoise
