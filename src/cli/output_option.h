// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "cli/verbs.h"

namespace counterpoise {

// "--name FILE|-": where a result goes. A path that cannot be written is refused (kBadInput) before the work
// whose result it takes; under mpirun, where one rank writes, when that rank does.
CLI::Option* add_output_option(CLI::App& verb, const std::string& name, std::string& path,
                               const std::string& help);

}  // namespace counterpoise
