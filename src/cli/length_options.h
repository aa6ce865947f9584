// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "cli/verbs.h"
#include "counterpoise/lengths.h"

namespace counterpoise {

// The options every verb that reads document lengths shares.
struct LengthOptions {
  std::string source;
  ReadOptions read;

  // Adds --lengths (and, when `positional`, SOURCE), --field and --format.
  void add_to(CLI::App& verb, bool positional, bool required);
  Lengths load() const { return read_lengths(source, read); }
};

}  // namespace counterpoise
