// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace counterpoise {

// Does this CPU multiply bfloat16 tiles, and does the operating system let this process do so? Asks for the
// permission once; it holds for all threads.
bool cpu_has_amx();

}  // namespace counterpoise
