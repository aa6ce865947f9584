// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <vector>

#include "assign/pack_policies.h"

namespace counterpoise {
namespace {

// Best-fit decreasing over a buffer of `look_ahead` windows' worth of tokens: longest first, each into
// the fullest window that still holds it. O(n log n) per buffer for any capacity: open windows are kept
// by the room they have left. Every window of a buffer is ended with it.
class BestFitDecreasing : public Packer {
 public:
  explicit BestFitDecreasing(const PackOptions& options) : Packer(options) {}

 private:
  void place(const Piece& piece, WindowSink& sink) override {
    buffer_.push_back(piece);
    buffered_ += piece.length;
    if (buffered_ / options_.window >= options_.look_ahead) flush(sink);
  }

  void flush(WindowSink& sink) override {
    std::stable_sort(buffer_.begin(), buffer_.end(),
                     [](const Piece& a, const Piece& b) { return a.length > b.length; });
    std::vector<std::vector<Piece>> windows;
    std::multimap<int64_t, size_t> room;  // tokens left -> window
    for (const Piece& piece : buffer_) {
      const auto fit = room.lower_bound(piece.length);
      const size_t window = fit == room.end() ? windows.size() : fit->second;
      const int64_t left = (fit == room.end() ? options_.window : fit->first) - piece.length;
      if (fit == room.end())
        windows.emplace_back();
      else
        room.erase(fit);
      windows[window].push_back(piece);
      if (left > 0) room.emplace(left, window);
    }
    for (const std::vector<Piece>& pieces : windows) emit_window(pieces, sink);
    buffer_.clear();
    buffered_ = 0;
  }

  void emit_window(const std::vector<Piece>& pieces, WindowSink& sink) {
    int64_t used = 0;
    for (const Piece& piece : pieces) {
      emit(piece, sink);
      used += piece.length;
    }
    end_window(used, sink);
  }

  std::vector<Piece> buffer_;
  int64_t buffered_ = 0;
};

}  // namespace

std::unique_ptr<Packer> make_best_fit_decreasing(const PackOptions& options) {
  return std::make_unique<BestFitDecreasing>(options);
}

}  // namespace counterpoise
