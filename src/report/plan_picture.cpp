// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "report/plan_report.h"

namespace counterpoise {
namespace {

constexpr std::string_view kGlyphs = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
constexpr int kColours[] = {31, 32, 33, 34, 35, 36, 91, 92, 93, 94, 95, 96};

// Pairs per cell and rank, tokens of the window on both axes.
class Picture {
 public:
  Picture(const StepPlan& plan, const WindowPlan& window, const PictureOptions& options)
      : plan_(plan), options_(options) {
    for (const PlanDocument& document : window.documents) {
      start_.push_back(tokens_);
      tokens_ += document.length;
    }
    cells_ = std::min<int64_t>(options.cells, tokens_);
    pairs_.assign(static_cast<size_t>(cells_ * cells_ * plan.cp), 0);
    const Pass& pass = options.backward ? window.backward : window.forward;
    for (const Tile& tile : pass.tiles) {
      if (tile.heads.begin <= options.head && options.head < tile.heads.end) add(tile);
    }
  }

  std::string str() const {
    std::string text;
    for (int64_t row = 0; row < cells_; ++row) {
      for (int64_t column = 0; column < cells_; ++column) text += glyph(rank_of(row, column));
      text += '\n';
    }
    return text;
  }

 private:
  int64_t edge(int64_t cell) const { return tokens_ * cell / cells_; }
  int64_t cell_of(int64_t token) const {
    int64_t cell = token * cells_ / tokens_;
    while (edge(cell + 1) <= token) ++cell;
    while (edge(cell) > token) --cell;
    return cell;
  }
  // The tokens of a cell that lie in `range`, as positions of the document that starts at `start`.
  Range part(int64_t cell, int64_t start, Range range) const {
    return intersect({edge(cell) - start, edge(cell + 1) - start}, range);
  }

  void add(const Tile& tile) {
    const int64_t start = start_[tile.document];
    const int64_t rows_end = cell_of(start + tile.q.end - 1), columns_end = cell_of(start + tile.kv.end - 1);
    for (int64_t row = cell_of(start + tile.q.begin); row <= rows_end; ++row) {
      for (int64_t column = cell_of(start + tile.kv.begin); column <= columns_end; ++column) {
        pairs_[(row * cells_ + column) * plan_.cp + tile.rank] +=
            area(part(row, start, tile.q), part(column, start, tile.kv), plan_.shape.mask);
      }
    }
  }

  // -1 where everything is masked.
  int32_t rank_of(int64_t row, int64_t column) const {
    const auto first = pairs_.begin() + (row * cells_ + column) * plan_.cp;
    const auto most = std::max_element(first, first + plan_.cp);
    return *most == 0 ? -1 : static_cast<int32_t>(most - first);
  }

  std::string glyph(int32_t rank) const {
    if (rank < 0) return ".";
    const std::string letter(1, kGlyphs[static_cast<size_t>(rank) % kGlyphs.size()]);
    if (!options_.colour) return letter;
    return fmt::format("\033[{}m{}\033[0m", kColours[static_cast<size_t>(rank) % std::size(kColours)],
                       letter);
  }

  const StepPlan& plan_;
  const PictureOptions& options_;
  std::vector<int64_t> start_;
  int64_t tokens_ = 0, cells_ = 0;
  std::vector<int64_t> pairs_;
};

}  // namespace

std::string plan_picture(const StepPlan& plan, const WindowPlan& window, const PictureOptions& options) {
  return Picture(plan, window, options).str();
}

}  // namespace counterpoise
