// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "counterpoise/lengths.h"

namespace counterpoise {

// Brings bins as a file lists them into the form `Lengths` promises: ascending, disjoint, no empty ones,
// equal single lengths added up; sets `documents` where all weights are whole numbers, and so counts.
// Throws kBadInput naming `file` where ranges overlap or nothing is left.
void settle_bins(Lengths& lengths, const std::string& file);

}  // namespace counterpoise
