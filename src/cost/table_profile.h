// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "cost/tables.h"
#include "counterpoise/kernel_profile.h"

namespace counterpoise {

enum class KeepResiduals { kNever, kAlways, kWhenBetter };  // better: lower cross-validated median error

// What a table of calls on an accelerator is fitted with: its rows decide the kernel's tile, whether calls
// count exchange steps, and, when asked, whether neighbours' residuals correct the model.
FitOptions table_fit_options(std::span<const Measurement> measurements);
FitOptions choose_residuals(std::span<const Measurement> measurements, FitOptions options,
                            KeepResiduals keep);

// A profile of the table's device, forward and, where the table has it, backward; `piece_time` prices the
// head shape of the table's largest row. The errors of fit and cross-validation go into its calibration.
KernelProfilePtr fit_table(const AttentionTable& table, const std::string& name, KeepResiduals keep);

}  // namespace counterpoise
