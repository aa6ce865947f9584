// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace counterpoise {

// "8k", "128K", "1M", "1_000_000", "4096": k = 1024, M = 1024^2, G = 1024^3. Decimals before a suffix
// are legal when the result is whole ("1.5k"). `what` names the flag or field in the error (kUsage).
int64_t parse_size(std::string_view text, std::string_view what);

// "1,2,4,8": a comma-separated list of sizes, at least one.
std::vector<int64_t> parse_size_list(std::string_view text, std::string_view what);

// 4096 -> "4K", 1500 -> "1500", 131072 -> "128K": exact, for window sizes and the like.
std::string format_size(int64_t value);
// 1234567 -> "1,234,567".
std::string format_count(int64_t value);
// Three significant digits with a decimal suffix: 4.51e9 -> "4.51G", 1234 -> "1.23k".
std::string format_si(double value);
// 0.00123 -> "1.23 ms".
std::string format_seconds(double seconds);
// 1.5 * 2^30 -> "1.50 GiB".
std::string format_bytes(double bytes);

}  // namespace counterpoise
