// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "counterpoise/lengths.h"
#include "counterpoise/validate_cpu.h"

namespace counterpoise {

// Real plans of every sharder with every scheme, executed by four ranks that are threads, against a profile
// measured first. One part over all of them, then one per pair; a pair that cannot be planned says why.
std::vector<ValidationPart> validate_plans(const CpuValidation& options, const Lengths& lengths,
                                           const std::function<void(const std::string&, double)>& progress);

}  // namespace counterpoise
