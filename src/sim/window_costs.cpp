// SPDX-License-Identifier: Apache-2.0
#include "counterpoise/window_costs.h"

#include <algorithm>

#include "sim/piece_table.h"
#include "sim/window_stream.h"

namespace counterpoise {
namespace {

// Adds up the price of each window as its pieces arrive; windows beyond the last row are not needed.
class PriceSink final : public WindowSink {
 public:
  PriceSink(const PieceTable& table, std::span<double> rows, size_t columns)
      : table_(table), rows_(rows), columns_(columns), sum_(table.stride()) {}

  void piece(const Piece& piece) override { table_.add(piece.length, sum_.data()); }
  void end_window(int64_t) override {
    if (!full()) std::copy_n(sum_.begin(), columns_, rows_.begin() + static_cast<std::ptrdiff_t>(row_));
    row_ = std::min(row_ + columns_, rows_.size());
    std::fill(sum_.begin(), sum_.end(), 0.0);
  }
  bool full() const { return row_ == rows_.size(); }
  size_t priced() const { return row_; }

 private:
  const PieceTable& table_;
  std::span<double> rows_;
  size_t columns_;
  std::vector<double> sum_;
  size_t row_ = 0;
};

// Keeps the documents of each window; windows beyond the last one are not needed.
class LengthSink final : public WindowSink {
 public:
  explicit LengthSink(std::span<std::vector<int64_t>> windows) : windows_(windows) {}

  void piece(const Piece& piece) override {
    if (!full()) windows_[taken_].push_back(piece.length);
  }
  void end_window(int64_t) override { taken_ = std::min(taken_ + 1, windows_.size()); }
  bool full() const { return taken_ == windows_.size(); }
  size_t taken() const { return taken_; }

 private:
  std::span<std::vector<int64_t>> windows_;
  size_t taken_ = 0;
};

}  // namespace

std::vector<double> WindowCosts::column(size_t j) const {
  std::vector<double> result(static_cast<size_t>(windows()));
  for (size_t w = 0; w < result.size(); ++w) result[w] = values[w * cp.size() + j];
  return result;
}

WindowCosts window_costs(const WindowSource& source, std::span<const int64_t> cp, const PieceTime& piece_time,
                         int64_t windows, uint64_t part) {
  const PieceTable table(piece_time, cp, source.pack.window);
  WindowCosts costs{{cp.begin(), cp.end()}, {}, {}};
  const size_t columns = cp.size();
  costs.values.resize(static_cast<size_t>(windows) * columns);
  const StreamedWindows streamed = stream_windows(
      source, windows, part, [&](DocumentStream& documents, Packer& packer, int64_t first, int64_t count) {
        const size_t begin = static_cast<size_t>(first) * columns;
        PriceSink sink(table, std::span(costs.values).subspan(begin, static_cast<size_t>(count) * columns),
                       columns);
        pack_into(documents, packer, sink);
        return static_cast<int64_t>(sink.priced() / columns);
      });
  costs.ended = streamed.windows < windows;
  costs.values.resize(static_cast<size_t>(streamed.windows) * columns);
  costs.account = streamed.account;
  return costs;
}

WindowLengths window_lengths(const WindowSource& source, int64_t windows, uint64_t part) {
  WindowLengths result;
  result.windows.resize(static_cast<size_t>(windows));
  const StreamedWindows streamed = stream_windows(
      source, windows, part, [&](DocumentStream& documents, Packer& packer, int64_t first, int64_t count) {
        LengthSink sink(
            std::span(result.windows).subspan(static_cast<size_t>(first), static_cast<size_t>(count)));
        pack_into(documents, packer, sink);
        return static_cast<int64_t>(sink.taken());
      });
  result.windows.resize(static_cast<size_t>(streamed.windows));
  result.account = streamed.account;
  return result;
}

}  // namespace counterpoise
