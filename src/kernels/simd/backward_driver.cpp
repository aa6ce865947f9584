// SPDX-License-Identifier: Apache-2.0
#include "kernels/simd/backward_driver.h"

#include <algorithm>
#include <atomic>
#include <vector>

#include "counterpoise/parallel.h"
#include "kernels/rows/rows.h"
#include "kernels/simd/backward_visits.h"
#include "kernels/simd/independent_tiles.h"
#include "kernels/simd/key_block_runner.h"
#include "kernels/simd/lending.h"
#include "kernels/simd/packed_queries.h"

namespace counterpoise {
namespace {

// The key/value heads [kv_heads.begin, kv_heads.end), whose packed queries are held in memory together.
class HeadBatch {
 public:
  HeadBatch(const BackwardKernels& kernels, const AttentionProblem& problem, const BackwardTensors& tensors,
            const KvBlocks& kv, const QueryBlocks& queries, Range kv_heads)
      : kernels_(kernels),
        problem_(problem),
        tensors_(tensors),
        kv_(kv),
        queries_(queries),
        kv_heads_(kv_heads),
        heads_{kv_heads.begin * problem.group(), kv_heads.end * problem.group()},
        packed_(kernels, problem, tensors, queries, heads_),
        finite_(static_cast<size_t>(kv_heads.size())) {}

  void run() {
    pack();
    const BackwardPlan plan(problem_, kv_, queries_, kv_heads_);
    Turns turns(heads_.size(), static_cast<int64_t>(queries_.blocks.size()));
    parallel_for(static_cast<int64_t>(plan.items().size()), problem_.threads, [&](int64_t i) {
      if (!finite(plan.items()[i].kv_head)) return;
      try {
        runners_.with(
            [&] {
              return std::make_unique<KeyBlockRunner>(kernels_, problem_, tensors_, kv_, queries_, packed_);
            },
            [&](KeyBlockRunner& runner) { run_item(problem_, plan, i, heads_.begin, turns, runner); });
      } catch (...) {
        turns.fail();
        throw;
      }
    });
    // An infinity or NaN must reach exactly the rows that see it, which sums over whole blocks cannot
    // promise.
    for (int64_t head = kv_heads_.begin; head < kv_heads_.end; ++head)
      if (!finite(head)) rows_backward_head(problem_, tensors_, head);
  }

 private:
  bool finite(int64_t kv_head) const {
    return finite_[kv_head - kv_heads_.begin].load(std::memory_order_relaxed);
  }

  void pack() {
    for (auto& finite : finite_) finite.store(true);
    const int64_t panels = static_cast<int64_t>(queries_.panels.size()),
                  blocks = static_cast<int64_t>(kv_.count());
    constexpr int64_t kChunk = 16;
    const int64_t chunks = (panels + kChunk - 1) / kChunk;
    parallel_for(heads_.size() * chunks, problem_.threads, [&](int64_t i) {
      const int64_t head = heads_.begin + i / chunks, first = i % chunks * kChunk;
      Buffer staging(packed_.staging_floats());
      for (int64_t panel = first; panel < std::min(panels, first + kChunk); ++panel)
        note(head / problem_.group(), packed_.pack(panel, head, staging.data()));
    });
    parallel_for(kv_heads_.size() * blocks, problem_.threads, [&](int64_t i) {
      const int64_t kv_head = kv_heads_.begin + i / blocks;
      const Range rows = kv_.rows(i % blocks);
      for (const ConstTensorView* t : {&tensors_.k, &tensors_.v}) {
        Buffer staging(t->dtype == DType::kFloat32 ? 0 : rows.size() * t->dim);
        const FloatRows x = float_rows(*t, rows, kv_head, staging.data());
        note(kv_head,
             kernels_.all_finite(x.data, x.stride, static_cast<int>(rows.size()), static_cast<int>(t->dim)));
      }
    });
  }

  void note(int64_t kv_head, bool finite) {
    if (!finite) finite_[kv_head - kv_heads_.begin].store(false, std::memory_order_relaxed);
  }

  const BackwardKernels& kernels_;
  const AttentionProblem& problem_;
  const BackwardTensors& tensors_;
  const KvBlocks& kv_;
  const QueryBlocks& queries_;
  const Range kv_heads_, heads_;
  PackedQueries packed_;
  std::vector<std::atomic<bool>> finite_;
  Lending<KeyBlockRunner> runners_;
};

void backward_of_batch(const BackwardKernels& kernels, const AttentionProblem& problem,
                       const BackwardTensors& tensors) {
  const KvBlocks kv(problem.tiles, problem.shape.head_dim > 96 ? kernels.wide_keys : kernels.keys);
  const QueryBlocks queries(problem.tiles, kernels.width, kernels.panels, kernels.lanes);
  for_head_batches(
      problem, queries, PackedQueries::floats_per_panel(kernels, problem.shape),
      [&](Range kv_heads) { HeadBatch(kernels, problem, tensors, kv, queries, kv_heads).run(); });
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
    backward_of_batch(kernels, batch, tensors);
  }
}

}  // namespace counterpoise
