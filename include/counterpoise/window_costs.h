// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "counterpoise/document_stream.h"
#include "counterpoise/lengths.h"
#include "counterpoise/profile.h"
#include "counterpoise/windows.h"

namespace counterpoise {

// Attention time of one rank's share of a causal document piece of `length` tokens split over `cp` ranks.
using PieceTime = std::function<double(int64_t length, int64_t cp)>;

// That time under a profile, which must outlive it.
inline PieceTime piece_time_of(const Profile& profile) {
  return [&profile](int64_t length, int64_t cp) { return profile.piece_time(length, cp); };
}

// Costs of a stream of windows: row w holds the cost of window w at each cp of `cp`.
struct WindowCosts {
  std::vector<int64_t> cp;     // the columns
  std::vector<double> values;  // windows x columns
  PackAccount account;
  bool ended = false;  // the corpus ended before the windows asked for were full

  int64_t windows() const { return static_cast<int64_t>(values.size() / cp.size()); }
  std::span<const double> row(int64_t window) const {
    return {values.data() + static_cast<size_t>(window) * cp.size(), cp.size()};
  }
  std::vector<double> column(size_t j) const;
};

struct WindowSource {
  const Lengths& lengths;
  PackOptions pack;
  DocumentOrder order = DocumentOrder::kSample;
  uint64_t seed = 1;
  int threads = 0;  // 0: all cores
};

// Cuts `windows` windows and prices them, in stream order. With `sample` the stream is drawn in blocks of
// 4096 windows, each from a random stream of its own and starting at a document, so that the numbers are
// the same for any thread count; leftovers at a block's end stay in account.pending().
// A corpus may end early: `ended`, and fewer rows. Throws kBadInput where no document holds a token.
WindowCosts window_costs(const WindowSource& source, std::span<const int64_t> cp, const PieceTime& piece_time,
                         int64_t windows, uint64_t part = 0);

// The documents of the same windows, for callers that split them by rank.
struct WindowLengths {
  std::vector<std::vector<int64_t>> windows;  // lengths of each window's pieces; fewer where the corpus ends
  PackAccount account;
};
WindowLengths window_lengths(const WindowSource& source, int64_t windows, uint64_t part = 0);

}  // namespace counterpoise
