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
      : piece_time_(piece_time),
        cp_(cp),
        stride_((cp.size() + kVector - 1) / kVector * kVector),
        limit_(std::min(longest, kTabulated)) {
    table_.resize(static_cast<size_t>(limit_ + 1) * stride_);
    for (int64_t length = 1; length <= limit_; ++length)
      for (size_t j = 0; j < cp.size(); ++j)
        table_[static_cast<size_t>(length) * stride_ + j] = piece_time(length, cp[j]);
  }

  // Columns rounded up to whole vectors; what lies beyond cp.size() stays zero.
  size_t stride() const { return stride_; }

  // Adds the prices of one piece to sum[0, stride).
  void add(int64_t length, double* sum) const {
    if (length > limit_) return add_long(length, sum);
    const double* price = table_.data() + static_cast<size_t>(length) * stride_;
    switch (stride_ / kVector) {
      case 1:
        return add_vectors<1>(price, sum);
      case 2:
        return add_vectors<2>(price, sum);
      case 3:
        return add_vectors<3>(price, sum);
      case 4:
        return add_vectors<4>(price, sum);
      default:
        for (size_t j = 0; j < stride_; j += kVector) add_vectors<1>(price + j, sum + j);
    }
  }

 private:
  // A fixed number of columns, so that the compiler keeps no loop.
  template <size_t kVectors>
  static void add_vectors(const double* __restrict price, double* __restrict sum) {
    for (size_t j = 0; j < kVectors * kVector; ++j) sum[j] += price[j];
  }

  // Apart, so that the short path above stays short.
  [[gnu::noinline]] void add_long(int64_t length, double* row) const {
    for (size_t j = 0; j < cp_.size(); ++j) row[j] += piece_time_(length, cp_[j]);
  }

  static constexpr size_t kVector = 2;
  static constexpr int64_t kTabulated = int64_t{1} << 20;
  const PieceTime& piece_time_;
  std::span<const int64_t> cp_;
  size_t stride_;
  int64_t limit_;
  std::vector<double> table_;
};

}  // namespace counterpoise
