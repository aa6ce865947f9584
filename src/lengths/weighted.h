// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>
#include <vector>

#include "counterpoise/lengths.h"

namespace counterpoise {

// Documents of a corpus or of a distribution in one form: ascending bins, and of n documents the bins
// of one length each with their counts.
std::vector<LengthBin> ascending_bins(const Lengths& lengths);

double total_weight(std::span<const LengthBin> bins);

// Moments of a length of one bin, all lengths equally likely.
struct BinMoments {
  double mean = 0;
  double variance = 0;
  double mean_square = 0;
  double square_variance = 0;  // of length^2
};
BinMoments moments_of(const LengthBin& bin);

// The smallest length x with at least `mass` of the weight in lengths <= x.
int64_t length_at(std::span<const LengthBin> bins, double mass);

// The longest documents that together weigh `mass`: the bins from the top, the last one cut.
std::vector<LengthBin> longest_of(std::span<const LengthBin> bins, double mass);

}  // namespace counterpoise
