// SPDX-License-Identifier: Apache-2.0
#include "lengths/distribution_arguments.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>

#include "counterpoise/error.h"
#include "counterpoise/lengths.h"
#include "counterpoise/numbers.h"

namespace counterpoise {

std::string_view DistributionArguments::find(std::string_view key, size_t position) {
  keys_.push_back(key);
  for (size_t i = 0; i < call_.arguments.size(); ++i) {
    const auto& [name, value] = call_.arguments[i];
    if (name == key || (name.empty() && i == position)) return value;
  }
  return {};
}

std::string_view DistributionArguments::needed(std::string_view key, size_t position,
                                               std::string_view example) {
  const std::string_view value = find(key, position);
  if (value.empty())
    throw_error(ErrorKind::kUsage, "dist:{}: {} is missing, for example {}={}", call_.name, key, key,
                example);
  return value;
}

int64_t DistributionArguments::length(std::string_view key, size_t position, std::string_view example) {
  return to_length(key, needed(key, position, example));
}

int64_t DistributionArguments::length_or(std::string_view key, size_t position, int64_t fallback) {
  const std::string_view value = find(key, position);
  return value.empty() ? fallback : to_length(key, value);
}

double DistributionArguments::positive(std::string_view key, size_t position, std::string_view example) {
  const std::string_view text = needed(key, position, example);
  double value = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (status != std::errc() || end != text.data() + text.size() || !(value > 0) || !std::isfinite(value))
    throw_error(ErrorKind::kUsage, "dist:{}: {} must be a number above 0, not '{}'", call_.name, key, text);
  return value;
}

void DistributionArguments::check_all_known() const {
  const size_t given = call_.arguments.size();
  if (given > keys_.size())
    throw_error(ErrorKind::kUsage, "dist:{} takes {}; {} arguments are too many", call_.name,
                fmt::join(keys_, ", "), given);
  std::set<std::string_view> seen;
  for (size_t i = 0; i < given; ++i) {
    const std::string_view key = call_.arguments[i].first.empty() ? keys_[i] : call_.arguments[i].first;
    if (std::ranges::find(keys_, key) == keys_.end())
      throw_error(ErrorKind::kUsage, "dist:{} has no parameter '{}'; it takes {}", call_.name, key,
                  fmt::join(keys_, ", "));
    if (!seen.insert(key).second)
      throw_error(ErrorKind::kUsage, "dist:{}: {} is given twice", call_.name, key);
  }
}

int64_t DistributionArguments::to_length(std::string_view key, std::string_view text) const {
  const int64_t value = parse_size(text, fmt::format("dist:{}: {}", call_.name, key));
  if (value > kMaxLength)
    throw_error(ErrorKind::kUsage, "dist:{}: {}={} is above the limit of {} tokens", call_.name, key, text,
                format_count(kMaxLength));
  return value;
}

}  // namespace counterpoise
