// SPDX-License-Identifier: Apache-2.0
#include "lengths/bins.h"

#include <algorithm>
#include <cmath>

#include "counterpoise/error.h"

namespace counterpoise {
namespace {

constexpr double kMaxCount = 0x1p53;   // beyond, counts are not exact in a double
constexpr double kMaxTokens = 0x1p62;  // beyond, sums over all documents leave 64 bits

bool same_single(const LengthBin& a, const LengthBin& b) {
  return a.lo == a.hi && b.lo == b.hi && a.lo == b.lo;
}

}  // namespace

void settle_bins(Lengths& lengths, const std::string& file) {
  std::vector<LengthBin> settled;
  double total = 0, tokens = 0;
  bool whole = true;
  std::ranges::stable_sort(lengths.bins, {}, &LengthBin::lo);
  for (const LengthBin& bin : lengths.bins) {
    total += bin.weight;
    tokens += bin.weight * static_cast<double>(bin.hi);
    whole = whole && bin.weight == std::floor(bin.weight);
    if (bin.weight == 0) continue;
    if (!settled.empty() && same_single(settled.back(), bin))
      settled.back().weight += bin.weight;
    else if (!settled.empty() && bin.lo <= settled.back().hi)
      throw_error(ErrorKind::kBadInput, "{}: the ranges {}..{} and {}..{} overlap", file, settled.back().lo,
                  settled.back().hi, bin.lo, bin.hi);
    else
      settled.push_back(bin);
  }
  if (settled.empty()) throw_error(ErrorKind::kBadInput, "{}: holds no lengths: all counts are zero", file);
  if (!std::isfinite(total)) throw_error(ErrorKind::kBadInput, "{}: the counts add up to infinity", file);
  if (whole && (total > kMaxCount || tokens > kMaxTokens))
    throw_error(ErrorKind::kBadInput,
                "{}: counts {:.3g} documents and {:.3g} tokens, more than 64 bits can add", file, total,
                tokens);
  if (whole) lengths.documents = static_cast<int64_t>(total);
  lengths.bins = std::move(settled);
}

}  // namespace counterpoise
