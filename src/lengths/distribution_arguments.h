// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

#include "lengths/distribution_syntax.h"

namespace counterpoise {

// The arguments of one distribution, by key or by position. Every getter throws kUsage naming the
// distribution, the parameter and what it must be.
class DistributionArguments {
 public:
  explicit DistributionArguments(const DistributionCall& call) : call_(call) {}

  // A length in tokens ("3k", "128K", "1M", "4096").
  int64_t length(std::string_view key, size_t position, std::string_view example);
  // `fallback` where the argument is absent.
  int64_t length_or(std::string_view key, size_t position, int64_t fallback);
  // A number above 0.
  double positive(std::string_view key, size_t position, std::string_view example);
  // To be called last: whatever was given has been asked for, and once.
  void check_all_known() const;

 private:
  std::string_view find(std::string_view key, size_t position);
  std::string_view needed(std::string_view key, size_t position, std::string_view example);
  int64_t to_length(std::string_view key, std::string_view text) const;

  const DistributionCall& call_;
  std::vector<std::string_view> keys_;
};

}  // namespace counterpoise
