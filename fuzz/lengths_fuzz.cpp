// SPDX-License-Identifier: Apache-2.0
// libFuzzer target of the length readers. The first byte chooses the format (0: detection), the rest is the
// file. Only Error may come out.
#include <array>
#include <cstddef>
#include <cstdint>

#include "counterpoise/error.h"
#include "counterpoise/length_summary.h"
#include "lengths/readers.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace counterpoise;
  if (size == 0) return 0;
  constexpr std::array kFormats = {"",    "text",         "json",       "jsonl",       "csv",
                                   "npy", "weighted_csv", "binned_csv", "megatron_idx"};
  const std::string format = kFormats[data[0] % kFormats.size()];
  try {
    summarise(
        parse_lengths("input", std::string(reinterpret_cast<const char*>(data + 1), size - 1), {"", format}));
  } catch (const Error&) {
  }
  return 0;
}
