// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace counterpoise {

// The command line: parses, runs one verb, prints errors on stderr, returns the exit code of
// `ErrorKind` (0 ok, 1 check failed, 2 usage, 3 bad input, 4 infeasible, 5 not built).
int run_command_line(int argc, const char* const* argv);

}  // namespace counterpoise
