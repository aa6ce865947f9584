// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace counterpoise {

// name(argument,argument) cut apart at the outermost commas; an argument is "key=value" or "value".
struct DistributionCall {
  std::string_view name;
  std::vector<std::pair<std::string_view, std::string_view>> arguments;  // key (may be empty), value
  std::string_view inside;                                               // all between the parentheses
};

// Throws kUsage where parentheses do not match or something follows them.
DistributionCall parse_call(std::string_view text);

// "0.9*lognormal(...)+0.1*constant(128k)": weight and distribution of each term.
std::vector<std::pair<double, std::string_view>> parse_terms(std::string_view text);

}  // namespace counterpoise
