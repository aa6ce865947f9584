// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <numeric>

#include "shard/policies.h"

namespace counterpoise {
namespace {

// Joins neighbours of one document that touch, in place; returns the new end.
HeldRange* merge_touching(HeldRange* first, HeldRange* last) {
  if (first == last) return last;
  HeldRange* kept = first;
  for (HeldRange* next = first + 1; next != last; ++next) {
    if (next->document == kept->document && next->range.begin == kept->range.end) {
      kept->range.end = next->range.end;
    } else {
      *++kept = *next;
    }
  }
  return kept + 1;
}

}  // namespace

int64_t total_tokens(std::span<const int64_t> lengths) {
  return std::accumulate(lengths.begin(), lengths.end(), int64_t{0});
}

int64_t Placement::tokens(int32_t rank) const {
  int64_t sum = 0;
  for (const HeldRange& held : of(rank)) sum += held.range.size();
  return sum;
}

Placement PlacementBuilder::finish() const {
  const size_t cp = count_.size();
  std::vector<int32_t> start(cp + 1, 0);
  std::partial_sum(count_.begin(), count_.end(), start.begin() + 1);
  std::vector<HeldRange> sorted(held_.size());
  std::vector<int32_t> next(start.begin(), start.end() - 1);
  for (const Held& held : held_) sorted[next[held.rank]++] = held.range;

  Placement result;
  result.ranges.reserve(held_.size());
  result.begin.resize(cp + 1);
  for (size_t rank = 0; rank < cp; ++rank) {
    HeldRange* first = sorted.data() + start[rank];
    HeldRange* last = sorted.data() + start[rank + 1];
    if (!std::is_sorted(first, last)) std::sort(first, last);
    result.ranges.insert(result.ranges.end(), first, merge_touching(first, last));
    result.begin[rank + 1] = static_cast<int32_t>(result.ranges.size());
  }
  return result;
}

void WindowCursor::give(int32_t rank, int64_t count) {
  while (count > 0) {
    while (position_ == lengths_[document_]) {
      ++document_;
      position_ = 0;
    }
    const int64_t taken = std::min(count, lengths_[document_] - position_);
    builder_.add(rank, document_, {position_, position_ + taken});
    position_ += taken;
    count -= taken;
  }
}

}  // namespace counterpoise
