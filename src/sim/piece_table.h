// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "counterpoise/window_costs.h"

namespace counterpoise {

// piece_time tabulated for every length up to a limit, the columns of one length side by side, so that
// pricing a piece is one short add. Longer pieces are priced by calling.
class PieceTable {
 public:
  PieceTable(const PieceTime& piece_time, std::span<const int64_t> cp, int64_t longest)
      : piece_time_(piece_time), cp_(cp), limit_(std::min(longest, kTabulated)) {
    table_.resize(static_cast<size_t>(limit_ + 1) * cp.size());
    for (int64_t length = 1; length <= limit_; ++length)
      for (size_t j = 0; j < cp.size(); ++j)
        table_[static_cast<size_t>(length) * cp.size() + j] = piece_time(length, cp[j]);
  }

  void add(int64_t length, double* row) const {
    const size_t columns = cp_.size();
    if (length <= limit_) {
      const double* price = table_.data() + static_cast<size_t>(length) * columns;
      for (size_t j = 0; j < columns; ++j) row[j] += price[j];
    } else {
      for (size_t j = 0; j < columns; ++j) row[j] += piece_time_(length, cp_[j]);
    }
  }

 private:
  static constexpr int64_t kTabulated = int64_t{1} << 20;
  const PieceTime& piece_time_;
  std::span<const int64_t> cp_;
  int64_t limit_;
  std::vector<double> table_;
};

}  // namespace counterpoise
