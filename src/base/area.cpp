// SPDX-License-Identifier: Apache-2.0
#include "counterpoise/area.h"

namespace counterpoise {
namespace {

// Sum over y < x, y >= 0, of min(y, n).
int64_t ramp_sum(int64_t x, int64_t n) {
  if (x <= 0) return 0;
  if (x <= n) return x * (x - 1) / 2;
  return n * (n - 1) / 2 + (x - n) * n;
}

// Sum over q of how many keys of kv lie at or before q + shift.
int64_t pairs_up_to(Range q, Range kv, int64_t shift) {
  const int64_t offset = shift + 1 - kv.begin;
  return ramp_sum(q.end + offset, kv.size()) - ramp_sum(q.begin + offset, kv.size());
}

}  // namespace

int64_t area(Range q, Range kv, Mask mask) {
  if (q.empty() || kv.empty()) return 0;
  const int64_t seen = mask.right < 0 ? q.size() * kv.size() : pairs_up_to(q, kv, mask.right);
  const int64_t too_old = mask.left < 0 ? 0 : pairs_up_to(q, kv, -mask.left - 1);
  return seen - too_old;
}

Range visible_keys(Range q, int64_t length, Mask mask) {
  if (q.empty()) return {0, 0};
  const int64_t begin = mask.left < 0 ? 0 : std::max<int64_t>(0, q.begin - mask.left);
  const int64_t end = mask.right < 0 ? length : std::min(length, q.end + mask.right);
  return {std::min(begin, end), end};
}

}  // namespace counterpoise
