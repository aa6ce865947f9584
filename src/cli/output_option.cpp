// SPDX-License-Identifier: Apache-2.0
#include "cli/output_option.h"

#include "base/files.h"
#include "counterpoise/communicator.h"

namespace counterpoise {

CLI::Option* add_output_option(CLI::App& verb, const std::string& name, std::string& path,
                               const std::string& help) {
  const auto writable = [](const std::string& given) {
    if (!mpi_launched()) require_writable(given);
    return std::string();
  };
  return verb.add_option(name, path, help)->type_name("FILE|-")->check(writable, "");
}

}  // namespace counterpoise
