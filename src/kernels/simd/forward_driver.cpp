// SPDX-License-Identifier: Apache-2.0
#include "kernels/simd/forward_driver.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "counterpoise/parallel.h"
#include "kernels/dtype.h"
#include "kernels/simd/block_window.h"
#include "kernels/simd/buffer.h"
#include "kernels/simd/float_rows.h"
#include "kernels/simd/forward_items.h"
#include "kernels/simd/lending.h"
#include "kernels/simd/packed_kv.h"

namespace counterpoise {
namespace {

constexpr int64_t kKeysPerBlock = 128;
constexpr float kMinusInfinity = -std::numeric_limits<float>::infinity();

// The running softmax of one panel, all [..][width].
struct Panel {
  Range rows;
  float *q, *out, *max, *sum, *rescale;
};

// Works through items of up to `panels` panels, one at a time.
class ItemRunner {
 public:
  ItemRunner(const ForwardKernels& kernels, const AttentionProblem& problem, const ForwardTensors& tensors,
             const PackedKv& kv, int64_t panels)
      : kernels_(kernels),
        problem_(problem),
        tensors_(tensors),
        kv_(kv),
        groups_((problem.shape.v_head_dim + kernels.rows - 1) / kernels.rows),
        panel_floats_((problem.shape.head_dim + groups_ * kernels.rows + 3) * kernels.width),
        scratch_(panels * panel_floats_ + (kKeysPerBlock + 8) * kernels.width),
        staging_(kernels.width * std::max(problem.shape.head_dim, problem.shape.v_head_dim)) {}

  void run(const ForwardItem& item) {
    head_ = item.head;
    begin_panels(item.rows);
    for (const int t : item.strip->tiles)
      if (holds(problem_.tiles[t].heads, head_)) add_tile(problem_.tiles[t], item.rows);
    for (int i = 0; i < panel_count_; ++i) finish_panel(panels_[i]);
  }

 private:
  void begin_panels(Range rows) {
    panel_count_ = 0;
    for (int64_t row = rows.begin; row < rows.end; row = panels_[panel_count_++].rows.end) {
      Panel& panel = panels_[panel_count_];
      const int64_t width = kernels_.width;
      panel.rows = {row, row + panel_rows(rows.end - row, width / 3)};
      panel.q = scratch_.data() + panel_count_ * panel_floats_;
      panel.out = panel.q + problem_.shape.head_dim * width;
      panel.max = panel.out + groups_ * kernels_.rows * width;
      panel.sum = panel.max + width;
      panel.rescale = panel.sum + width;
      begin_panel(panel);
    }
    p_ = scratch_.data() + panel_count_ * panel_floats_;
  }

  void begin_panel(const Panel& panel) {
    const int width = kernels_.width, rows = static_cast<int>(panel.rows.size());
    if (rows < width) std::fill_n(panel.q, problem_.shape.head_dim * width, 0.0f);
    const FloatRows q = float_rows(tensors_.q, panel.rows, head_, staging_.data());
    kernels_.transpose(q.data, q.stride, rows, static_cast<int>(problem_.shape.head_dim),
                       static_cast<float>(problem_.shape.softmax_scale), panel.q, width);
    std::fill_n(panel.out, groups_ * kernels_.rows * width, 0.0f);
    std::fill_n(panel.max, width, kMinusInfinity);
    std::fill_n(panel.sum, width, 0.0f);
    if (problem_.accumulate) resume_panel(panel);
  }

  // Starts from the partial that the rows hold: its maximum is its lse and its sum 1.
  void resume_panel(const Panel& panel) {
    for (int64_t i = 0; i < panel.rows.size(); ++i) {
      const float lse = *lse_of(panel.rows.begin + i);
      if (lse == kMinusInfinity) continue;
      panel.max[i] = lse;
      panel.sum[i] = 1;
      const float* out = static_cast<const float*>(row_address(tensors_.out, panel.rows.begin + i, head_));
      for (int64_t c = 0; c < problem_.shape.v_head_dim; ++c) panel.out[c * kernels_.width + i] = out[c];
    }
  }

  void add_tile(const AttentionTile& tile, Range rows) {
    const auto [first, last] = kv_.blocks().seen(tile, rows, problem_.mask);
    for (size_t block = first; block < last; ++block)
      for (int i = 0; i < panel_count_; ++i) add_block(tile, block, panels_[i]);
  }

  // The keys of one block that some lane of the panel sees.
  void add_block(const AttentionTile& tile, size_t block, const Panel& panel) {
    const Range block_rows = kv_.blocks().rows(block);
    const BlockWindow window = block_window(problem_, tile, tile.kv, panel.rows, block_rows);
    if (window.rows == 0) return;
    const int64_t kv_head = head_ / problem_.group();
    ScoreArgs scores;
    scores.q = panel.q;
    scores.k = kv_.k(block, kv_head);
    scores.k_stride = kv_.k_stride();
    scores.dim = static_cast<int>(problem_.shape.head_dim);
    scores.begin = window.begin;
    scores.end = window.end;
    scores.low = window.low;
    scores.high = window.high;
    scores.rows = window.rows;
    scores.p = p_;
    scores.max = panel.max;
    scores.sum = panel.sum;
    scores.rescale = panel.rescale;
    kernels_.scores(scores);
    kernels_.weights(scores);
    const ValueArgs values{
        p_,         kv_.v(block, kv_head), kv_.v_key_stride(), kv_.v_group_stride(block), scores.begin,
        scores.end, scores.high,           scores.rows,        static_cast<int>(groups_), panel.rescale,
        panel.out};
    if (kv_.finite(block, kv_head))
      kernels_.values(values);
    else
      careful_values(values, scores);
  }

  // As kernels_.values, but never touches a masked pair: zero times an infinite value would be NaN.
  void careful_values(const ValueArgs& a, const ScoreArgs& mask) const {
    const int width = kernels_.width, rows = kernels_.rows;
    for (int r = 0; r < a.groups * rows; ++r) {
      const float* v = a.v + r / rows * a.group_stride + r % rows;
      for (int lane = 0; lane < mask.rows; ++lane) {
        float& out = a.out[r * width + lane];
        if (out != 0) out *= a.rescale[lane];
        const int begin = std::max(a.begin, mask.low + lane), end = std::min(a.end, mask.high + lane + 1);
        for (int key = begin; key < end; ++key) out += a.p[key * width + lane] * v[key * a.key_stride];
      }
    }
  }

  void finish_panel(const Panel& panel) {
    const int width = kernels_.width, rows = static_cast<int>(panel.rows.size());
    for (int i = 0; i < width; ++i) panel.rescale[i] = panel.sum[i] == 0 ? 0.0f : 1 / panel.sum[i];
    kernels_.scale_lanes(panel.out, static_cast<int>(problem_.shape.v_head_dim), panel.rescale);
    store_rows(panel);
    for (int i = 0; i < rows; ++i) {
      const double lse = panel.max[i] + std::log(static_cast<double>(panel.sum[i]));
      *lse_of(panel.rows.begin + i) = panel.sum[i] == 0 ? kMinusInfinity : static_cast<float>(lse);
    }
  }

  void store_rows(const Panel& panel) {
    const TensorView& out = tensors_.out;
    const int width = kernels_.width, rows = static_cast<int>(panel.rows.size()),
              dim = static_cast<int>(out.dim);
    if (out.dtype == DType::kFloat32) {
      kernels_.transpose(panel.out, width, dim, rows, 1,
                         static_cast<float*>(row_address(out, panel.rows.begin, head_)), out.token_stride);
      return;
    }
    kernels_.transpose(panel.out, width, dim, rows, 1, staging_.data(), dim);
    for (int i = 0; i < rows; ++i)
      store_row(staging_.data() + i * dim, dim, row_address(out, panel.rows.begin + i, head_), out.dtype);
  }

  float* lse_of(int64_t row) const { return static_cast<float*>(row_address(tensors_.lse, row, head_)); }

  const ForwardKernels& kernels_;
  const AttentionProblem& problem_;
  const ForwardTensors& tensors_;
  const PackedKv& kv_;
  const int64_t groups_, panel_floats_;
  Buffer scratch_, staging_;
  Panel panels_[kMaxPanelsPerItem];
  int panel_count_ = 0;
  int64_t head_ = 0;
  float* p_ = nullptr;
};

}  // namespace

void blocked_forward(const ForwardKernels& kernels, const AttentionProblem& problem,
                     const ForwardTensors& tensors) {
  const std::vector<Strip> strips = strips_of(problem.tiles);
  const PackedKv kv(kernels, problem, tensors.k, tensors.v, kKeysPerBlock);
  const std::vector<ForwardItem> items = forward_items(problem, strips, kernels.width);
  int64_t panels = 0;
  for (const ForwardItem& item : items)
    panels = std::max(panels, (item.rows.size() + kernels.width - 1) / kernels.width);
  Lending<ItemRunner> runners;
  parallel_for(static_cast<int64_t>(items.size()), problem.threads, [&](int64_t i) {
    runners.with([&] { return std::make_unique<ItemRunner>(kernels, problem, tensors, kv, panels); },
                 [&](ItemRunner& runner) { runner.run(items[i]); });
  });
}

}  // namespace counterpoise
