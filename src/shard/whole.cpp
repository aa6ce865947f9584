// SPDX-License-Identifier: Apache-2.0
#include "shard/whole.h"

#include <algorithm>
#include <numeric>

#include "counterpoise/error.h"

namespace counterpoise {

WholePlacer::WholePlacer(const char* policy, const ShardInput& input, int64_t default_cap)
    : input_(input), tokens_(input.cp, 0), area_(input.cp, 0), builder_(input.cp) {
  cap_ = input.options.token_cap == 0 ? default_cap : input.options.token_cap;
  const int64_t tokens = total_tokens(input.lengths);
  const int64_t least = (tokens + input.cp - 1) / input.cp;
  if (cap_ < least) {
    throw_error(
        ErrorKind::kInfeasible,
        "{}, token_cap {}: {} ranks of {} tokens cannot hold the window's {} tokens; nearest legal: {}",
        policy, cap_, input.cp, cap_, tokens, least);
  }
  order_.resize(input.lengths.size());
  std::iota(order_.begin(), order_.end(), 0);
  std::stable_sort(order_.begin(), order_.end(),
                   [&](int32_t a, int32_t b) { return input_.lengths[a] > input_.lengths[b]; });
}

void WholePlacer::give(int32_t rank, int32_t document, Range range) {
  if (range.empty()) return;
  builder_.add(rank, document, range);
  tokens_[rank] += range.size();
  area_[rank] += area(range, {0, input_.lengths[document]}, input_.mask);
}

void WholePlacer::cut(int32_t document) {
  zigzag_slices(input_.cp, input_.lengths[document], turn_,
                [&](int32_t rank, Range range) { give(rank, document, range); });
  moved_rows_ += input_.lengths[document] * (input_.cp - 1);
}

// -1: none has room.
int32_t WholePlacer::least_loaded(int64_t tokens) const {
  int32_t best = -1;
  for (int32_t rank = 0; rank < input_.cp; ++rank) {
    if (tokens_[rank] + tokens > cap_) continue;
    if (best < 0 || std::pair{area_[rank], tokens_[rank]} < std::pair{area_[best], tokens_[best]})
      best = rank;
  }
  return best;
}

void WholePlacer::place(int32_t document) {
  const int64_t length = input_.lengths[document];
  const int32_t rank = least_loaded(length);
  if (rank >= 0) return give(rank, document, {0, length});
  for (int64_t at = 0; at < length;) {
    const auto emptiest = std::min_element(tokens_.begin(), tokens_.end()) - tokens_.begin();
    const int64_t taken = std::min(length - at, cap_ - tokens_[emptiest]);
    give(static_cast<int32_t>(emptiest), document, {at, at + taken});
    moved_rows_ += taken;
    at += taken;
  }
}

int64_t WholePlacer::most_area() const {
  return *std::max_element(area_.begin(), area_.end());
}

}  // namespace counterpoise
