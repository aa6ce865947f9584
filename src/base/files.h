// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <string_view>

namespace counterpoise {

// The whole file, or stdin for "-". Throws kBadInput naming the file and the system's reason.
std::string read_file(const std::string& path);

// Writes to a temporary name beside `path` and renames, so that `path` is never half-written;
// "-" writes to stdout, a device or a pipe is written to as it is, and a symbolic link stays one. Throws
// kBadInput naming the file and the system's reason.
void write_file(const std::string& path, std::string_view content);

// Throws what write_file would, before the work whose result goes there. Nothing for "" and "-".
void require_writable(const std::string& path);

}  // namespace counterpoise
