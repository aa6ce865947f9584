// SPDX-License-Identifier: Apache-2.0
#include "plan/serve.h"

#include <algorithm>
#include <tuple>

namespace counterpoise {
namespace {

class Leveller {
 public:
  Leveller(std::span<const int64_t> lengths, const Placement& placement, Mask mask)
      : lengths_(lengths), mask_(mask), own_(placement.cp()), area_(placement.cp(), 0) {
    for (int32_t rank = 0; rank < placement.cp(); ++rank) {
      for (const HeldRange& held : placement.of(rank)) {
        own_[rank].push_back(held);
        area_[rank] += area_of(held);
      }
    }
  }

  std::vector<Work> level() {
    int64_t total = 0;
    for (int64_t area : area_) total += area;
    const int64_t cp = static_cast<int64_t>(own_.size());
    int32_t to = 0;
    for (int32_t from = 0; from < cp; ++from) {
      const int64_t target = target_of(total, cp, from);
      while (to < cp && area_[from] > target) {
        const int64_t surplus = area_[from] - target;
        const int64_t room = target_of(total, cp, to) - area_[to];
        if (room > 0 && give(from, to, std::min(surplus, room))) continue;
        if (room >= surplus) break;  // less than the last query is left to give
        ++to;
      }
    }
    for (int32_t rank = 0; rank < cp; ++rank) {
      for (const HeldRange& held : own_[rank]) add(rank, rank, held);
    }
    std::sort(work_.begin(), work_.end(), [](const Work& a, const Work& b) {
      return std::tuple{a.rank, a.holder, a.document, a.q} < std::tuple{b.rank, b.holder, b.document, b.q};
    });
    return std::move(work_);
  }

 private:
  // Targets add up to the total: the first `total % cp` ranks may keep one more pair.
  static int64_t target_of(int64_t total, int64_t cp, int64_t rank) {
    return total / cp + (rank < total % cp ? 1 : 0);
  }

  int64_t area_of(const HeldRange& held) const {
    return area(held.range, {0, lengths_[held.document]}, mask_);
  }

  // Moves the last queries of the last range of `from`, at most `most` pairs of them. False: even one is too
  // many.
  bool give(int32_t from, int32_t to, int64_t most) {
    HeldRange& last = own_[from].back();
    HeldRange moved = last;
    moved.range.begin = first_within(last, most);
    if (moved.range.empty()) return false;
    const int64_t pairs = area_of(moved);
    add(to, from, moved);
    area_[from] -= pairs;
    area_[to] += pairs;
    last.range.end = moved.range.begin;
    if (last.range.empty()) own_[from].pop_back();
    return true;
  }

  // The smallest begin such that [begin, end) has at most `most` pairs.
  int64_t first_within(const HeldRange& held, int64_t most) const {
    int64_t low = held.range.begin, high = held.range.end;
    while (low < high) {
      const int64_t middle = low + (high - low) / 2;
      if (area_of({held.document, {middle, held.range.end}}) <= most) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    return low;
  }

  void add(int32_t rank, int32_t holder, const HeldRange& held) {
    work_.push_back({rank, holder, held.document, held.range, {0, lengths_[held.document]}});
  }

  std::span<const int64_t> lengths_;
  Mask mask_;
  std::vector<std::vector<HeldRange>> own_;
  std::vector<int64_t> area_;
  std::vector<Work> work_;
};

}  // namespace

std::vector<Work> level_work(std::span<const int64_t> lengths, const Placement& placement, Mask mask) {
  return Leveller(lengths, placement, mask).level();
}

}  // namespace counterpoise
