// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "cli/verbs.h"
#include "counterpoise/calibrate_cpu.h"

namespace counterpoise {

// --isa, of every verb that runs kernels.
struct IsaOption {
  std::string name = "auto";

  void add_to(CLI::App& verb);
  // The one that will run: kAuto is resolved. Throws kUsage for an unknown name, kNotBuilt or kInfeasible,
  // with what there is, for one that this build or this CPU lacks.
  Isa resolve() const;
};

// The options of verbs that measure the kernel of this machine.
struct MeasuringOptions {
  CalibrationOptions measured;
  std::string budget = "20s", dtype = "float32", max_tokens = "4096";
  IsaOption isa;

  void add_to(CLI::App& verb);
  // kUsage names the flag of whatever is wrong.
  CalibrationOptions options(bool backward) const;
};

}  // namespace counterpoise
