// SPDX-License-Identifier: Apache-2.0
#include "kernels/tiles/forward_driver.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

#include "counterpoise/parallel.h"
#include "kernels/dtype.h"
#include "kernels/simd/block_window.h"
#include "kernels/simd/forward_items.h"
#include "kernels/simd/lending.h"
#include "kernels/tiles/tile_kv.h"

namespace counterpoise {
namespace {

constexpr int kPanelPairs = 2;  // 64 queries: their weights and output stay close while keys stream by
constexpr int kPanelRows = kPanelPairs * kPairRows;
constexpr float kMinusInfinity = -std::numeric_limits<float>::infinity();

// The running softmax of one panel (TileForwardArgs).
struct Panel {
  Range rows;
  float *q, *out, *reference, *sum, *rounded_sum;
};

// Works through one item.
class ItemRunner {
 public:
  ItemRunner(const TileKernels& kernels, const AttentionProblem& problem, const ForwardTensors& tensors,
             const TileKv& kv, int64_t panels)
      : kernels_(kernels),
        problem_(problem),
        tensors_(tensors),
        kv_(kv),
        q_pairs_(tile_pairs(problem.shape.head_dim)),
        v_pairs_(tile_pairs(problem.shape.v_head_dim)),
        q_floats_(kPanelPairs * q_pairs_ * kPairWords),
        out_floats_(kPanelPairs * v_pairs_ * kPairFloats),
        panels_(panels * (q_floats_ + out_floats_ + 3 * kPanelRows)),
        scratch_(kPairFloats + kPanelPairs * kChunks * (kPairWords + kPairRows)),
        staging_(v_pairs_ * kPairFloats) {}

  void run(const ForwardItem& item) {
    head_ = item.head;
    panel_count_ = 0;
    for (int64_t row = item.rows.begin; row < item.rows.end; row += kPanelRows)
      begin_panel(intersect(item.rows, {row, row + kPanelRows}));
    for (const int t : item.strip->tiles)
      if (holds(problem_.tiles[t].heads, head_)) add_tile(problem_.tiles[t], item.rows);
    for (int i = 0; i < panel_count_; ++i) finish_panel(panel_[i]);
  }

 private:
  void begin_panel(Range rows) {
    Panel& panel = panel_[panel_count_];
    panel.rows = rows;
    panel.q = panels_.data() + panel_count_ * (q_floats_ + out_floats_ + 3 * kPanelRows);
    panel.out = panel.q + q_floats_;
    panel.reference = panel.out + out_floats_;
    panel.sum = panel.reference + kPanelRows;
    panel.rounded_sum = panel.sum + kPanelRows;
    ++panel_count_;
    const ConstTensorView& q = tensors_.q;
    for (int pair = 0; pair * kPairRows < rows.size(); ++pair) {
      const int64_t row = rows.begin + pair * kPairRows;
      kernels_.pack_right(bfloat16_row(q, row, head_), q.token_stride,
                          static_cast<int>(std::min<int64_t>(kPairRows, rows.end - row)),
                          static_cast<int>(q.dim),
                          reinterpret_cast<uint32_t*>(panel.q) + pair * q_pairs_ * kPairWords, kPairWords);
    }
    std::fill_n(panel.out, out_floats_, 0.0f);
    std::fill_n(panel.reference, kPanelRows, kNoReference);
    std::fill_n(panel.sum, 2 * kPanelRows, 0.0f);
    if (problem_.accumulate) resume_panel(panel);
  }

  // Starts from the partial that the rows hold: its reference is its lse and its sum 1.
  void resume_panel(const Panel& panel) {
    for (int64_t i = 0; i < panel.rows.size(); ++i) {
      const float lse = *lse_of(panel.rows.begin + i);
      if (lse == kMinusInfinity) continue;
      panel.reference[i] = lse * std::numbers::log2e_v<float>;
      panel.sum[i] = panel.rounded_sum[i] = 1;
      const float* out = static_cast<const float*>(row_address(tensors_.out, panel.rows.begin + i, head_));
      float* lane = panel.out + i / kPairRows * v_pairs_ * kPairFloats + i % kPairRows;
      for (int64_t c = 0; c < problem_.shape.v_head_dim; ++c) lane[c * kPairRows] = out[c];
    }
  }

  void add_tile(const AttentionTile& tile, Range rows) {
    const auto [first, last] = kv_.blocks().seen(tile, rows, problem_.mask);
    for (size_t block = first; block < last; ++block)
      for (int i = 0; i < panel_count_; ++i) add_block(tile, block, panel_[i]);
  }

  void add_block(const AttentionTile& tile, size_t block, const Panel& panel) {
    const int64_t kv_head = head_ / problem_.group();
    TileForwardArgs args;
    args.window = block_window(problem_, tile, tile.kv, panel.rows, kv_.blocks().rows(block));
    if (args.window.rows == 0) return;
    args.scale = static_cast<float>(problem_.shape.softmax_scale * std::numbers::log2e);
    args.steps = q_pairs_;
    args.value_pairs = v_pairs_;
    args.chunks = kv_.chunks(block);
    args.q = reinterpret_cast<const uint32_t*>(panel.q);
    args.k = kv_.k(block, kv_head);
    args.v = kv_.v(block, kv_head);
    args.reference = panel.reference;
    args.sum = panel.sum;
    args.rounded_sum = panel.rounded_sum;
    args.out = panel.out;
    args.scores = scratch_.data();
    args.p = reinterpret_cast<uint32_t*>(args.scores + kPairFloats);
    args.rescale = args.scores + kPairFloats + kPanelPairs * kChunks * kPairWords;
    kernels_.attend(args);
  }

  void finish_panel(const Panel& panel) {
    const TensorView& out = tensors_.out;
    for (int pair = 0; pair * kPairRows < panel.rows.size(); ++pair) {
      const int64_t row = panel.rows.begin + pair * kPairRows;
      float factor[kPairRows];
      for (int i = 0; i < kPairRows; ++i) {
        const float sum = panel.rounded_sum[pair * kPairRows + i];
        factor[i] = sum == 0 ? 0.0f : 1 / sum;
      }
      kernels_.rows_from_lanes(panel.out + pair * v_pairs_ * kPairFloats, factor, v_pairs_, staging_.data());
      for (int i = 0; i < kPairRows && row + i < panel.rows.end; ++i) {
        store_row(staging_.data() + i * v_pairs_ * kPairRows, out.dim, row_address(out, row + i, head_),
                  out.dtype);
        store_lse(row + i, panel, pair * kPairRows + i);
      }
    }
  }

  void store_lse(int64_t row, const Panel& panel, int lane) const {
    const double log2_sum = panel.reference[lane] + std::log2(static_cast<double>(panel.sum[lane]));
    *lse_of(row) = panel.sum[lane] == 0 ? kMinusInfinity : static_cast<float>(log2_sum * std::numbers::ln2);
  }

  float* lse_of(int64_t row) const { return static_cast<float*>(row_address(tensors_.lse, row, head_)); }

  const TileKernels& kernels_;
  const AttentionProblem& problem_;
  const ForwardTensors& tensors_;
  const TileKv& kv_;
  const int q_pairs_, v_pairs_;
  const int64_t q_floats_, out_floats_;
  Buffer panels_, scratch_, staging_;
  Panel panel_[kMaxPanelsPerItem];
  int panel_count_ = 0;
  int64_t head_ = 0;
};

uint16_t magnitude_of_queries(const TileKernels& kernels, const ConstTensorView& q, const ForwardItem& item) {
  return kernels.magnitude(bfloat16_row(q, item.rows.begin, item.head), q.token_stride,
                           static_cast<int>(item.rows.size()), static_cast<int>(q.dim));
}

}  // namespace

void tile_forward(const TileKernels& kernels, const Backend& fallback, const AttentionProblem& problem,
                  const ForwardTensors& tensors) {
  TileHeads heads(problem);
  const std::vector<Strip> strips = strips_of(problem.tiles);
  const TileKv kv(kernels, problem, tensors.k, tensors.v, heads);
  const std::vector<ForwardItem> items = forward_items(problem, strips, kPanelRows);
  const int64_t count = static_cast<int64_t>(items.size());
  parallel_for(count, problem.threads, [&](int64_t i) {
    heads.note(items[i].head / problem.group(), TileHeads::kQ,
               magnitude_of_queries(kernels, tensors.q, items[i]));
  });
  int64_t panels = 1;
  for (const ForwardItem& item : items)
    panels = std::max(panels, (item.rows.size() + kPanelRows - 1) / kPanelRows);
  Lending<ItemRunner> runners;
  parallel_for(count, problem.threads, [&](int64_t i) {
    if (!heads.forward_fits(items[i].head / problem.group())) return;
    const TileSession session(kernels);
    runners.with([&] { return std::make_unique<ItemRunner>(kernels, problem, tensors, kv, panels); },
                 [&](ItemRunner& runner) { runner.run(items[i]); });
  });
  for (int64_t head = 0; head < problem.shape.kv_heads; ++head) {
    if (heads.forward_fits(head)) continue;
    const OneHead one(problem, head);
    fallback.forward(one.problem(),
                     {one.of_queries(tensors.q), one.of_keys(tensors.k), one.of_keys(tensors.v),
                      one.of_queries(tensors.out), one.of_queries(tensors.lse)});
  }
}

}  // namespace counterpoise
