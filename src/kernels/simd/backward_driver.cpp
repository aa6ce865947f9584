// SPDX-License-Identifier: Apache-2.0
#include "kernels/simd/backward_driver.h"

#include <atomic>
#include <vector>

#include "kernels/rows/rows.h"
#include "kernels/simd/head_batch.h"
#include "kernels/simd/independent_tiles.h"
#include "kernels/simd/key_block_runner.h"
#include "kernels/simd/lending.h"
#include "kernels/simd/packed_queries.h"

namespace counterpoise {
namespace {

// The backward pass of one batch of heads.
class BatchBackward {
 public:
  BatchBackward(const BackwardKernels& kernels, const BackwardTensors& tensors, const HeadBatch& batch)
      : kernels_(kernels),
        tensors_(tensors),
        batch_(batch),
        packed_(kernels, batch.problem, tensors, batch.queries, batch.heads),
        finite_(static_cast<size_t>(batch.kv_heads.size())) {}

  void run() {
    pack();
    run_items();
    // An infinity or NaN must reach exactly the rows that see it, which sums over whole blocks cannot
    // promise.
    for (int64_t head = batch_.kv_heads.begin; head < batch_.kv_heads.end; ++head)
      if (!finite(head)) rows_backward_head(batch_.problem, tensors_, head);
  }

 private:
  bool finite(int64_t kv_head) const {
    return finite_[kv_head - batch_.kv_heads.begin].load(std::memory_order_relaxed);
  }

  void pack() {
    for (auto& finite : finite_) finite.store(true);
    batch_.for_panels([&](Range panels, int64_t head) {
      Buffer staging(packed_.staging_floats());
      for (int64_t panel = panels.begin; panel < panels.end; ++panel)
        note(head / batch_.problem.group(), packed_.pack(panel, head, staging.data()));
    });
    batch_.for_key_blocks([&](Range rows, int64_t kv_head) {
      for (const ConstTensorView* t : {&tensors_.k, &tensors_.v}) {
        Buffer staging(t->dtype == DType::kFloat32 ? 0 : rows.size() * t->dim);
        const FloatRows x = float_rows(*t, rows, kv_head, staging.data());
        note(kv_head,
             kernels_.all_finite(x.data, x.stride, static_cast<int>(rows.size()), static_cast<int>(t->dim)));
      }
    });
  }

  void note(int64_t kv_head, bool finite) {
    if (!finite) finite_[kv_head - batch_.kv_heads.begin].store(false, std::memory_order_relaxed);
  }

  void run_items() {
    Lending<KeyBlockRunner> runners;
    const auto make = [this] {
      return std::make_unique<KeyBlockRunner>(kernels_, batch_.problem, tensors_, batch_.kv, batch_.queries,
                                              packed_);
    };
    batch_.run_items([this](int64_t kv_head) { return finite(kv_head); },
                     [&](auto run) { runners.with(make, run); });
  }

  const BackwardKernels& kernels_;
  const BackwardTensors& tensors_;
  const HeadBatch& batch_;
  PackedQueries packed_;
  std::vector<std::atomic<bool>> finite_;
};

void backward_of_tiles(const BackwardKernels& kernels, const AttentionProblem& problem,
                       const BackwardTensors& tensors) {
  const KvBlocks kv(problem.tiles, problem.shape.head_dim > 96 ? kernels.wide_keys : kernels.keys);
  const QueryBlocks queries(problem.tiles, kernels.width, kernels.panels, kernels.lanes);
  for_head_batches(problem, kv, queries, PackedQueries::floats_per_panel(kernels, problem.shape),
                   [&](const HeadBatch& batch) { BatchBackward(kernels, tensors, batch).run(); });
}

// Packed queries of short documents that are worked on together: what stays in the second-level cache of one
// thread, or is work enough for several.
int64_t enough_floats(int threads) {
  constexpr int64_t kCached = int64_t{1} << 17, kShared = int64_t{1} << 21;
  return threads == 1 ? kCached : threads * kShared;
}

}  // namespace

void blocked_backward(const BackwardKernels& kernels, const AttentionProblem& problem,
                      const BackwardTensors& tensors) {
  const int64_t per_panel = PackedQueries::floats_per_panel(kernels, problem.shape);
  AttentionProblem batch = problem;
  for (const std::span<const AttentionTile> tiles :
       independent_tiles(problem.tiles, enough_floats(problem.threads), [&](const AttentionTile& tile) {
         return (tile.q.size() + kernels.width - 1) / kernels.width * tile.heads.size() * per_panel;
       })) {
    batch.tiles = tiles;
    backward_of_tiles(kernels, batch, tensors);
  }
}

}  // namespace counterpoise
