// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "cli/verbs.h"
#include "counterpoise/calibrate_cpu.h"

namespace counterpoise {

// The options of verbs that measure the kernel of this machine.
struct KernelOptions {
  CalibrationOptions measured;
  std::string budget = "20s", dtype = "float32", isa = "auto", max_tokens = "4096";

  void add_to(CLI::App& verb);
  // kUsage names the flag of whatever is wrong.
  CalibrationOptions options(bool backward) const;
};

}  // namespace counterpoise
