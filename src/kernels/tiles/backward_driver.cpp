// SPDX-License-Identifier: Apache-2.0
#include "kernels/tiles/backward_driver.h"

#include <algorithm>
#include <vector>

#include "counterpoise/parallel.h"
#include "kernels/simd/backward_visits.h"
#include "kernels/simd/lending.h"
#include "kernels/tiles/tile_block_runner.h"

namespace counterpoise {
namespace {

// The key/value heads [kv_heads.begin, kv_heads.end), whose packed queries are held in memory together.
class HeadBatch {
 public:
  HeadBatch(const TileKernels& kernels, const Backend& fallback, const AttentionProblem& problem,
            const BackwardTensors& tensors, const KvBlocks& kv, const QueryBlocks& queries, Range kv_heads)
      : kernels_(kernels),
        fallback_(fallback),
        problem_(problem),
        tensors_(tensors),
        kv_(kv),
        queries_(queries),
        kv_heads_(kv_heads),
        heads_{kv_heads.begin * problem.group(), kv_heads.end * problem.group()},
        fitting_(problem),
        packed_(kernels, problem, tensors, queries, heads_) {}

  void run() {
    for_each_panel([&](int64_t panel, int64_t head) { packed_.pack(panel, head, fitting_); });
    note_keys();
    run_items();
    for_each_panel([&](int64_t panel, int64_t head) {
      if (fits(head / problem_.group())) packed_.add_query_gradients(panel, head);
    });
    for (int64_t head = kv_heads_.begin; head < kv_heads_.end; ++head)
      if (!fits(head)) run_fallback(head);
  }

 private:
  bool fits(int64_t kv_head) const { return fitting_.backward_fits(kv_head); }

  template <typename F>
  void for_each_panel(F work) {
    const int64_t panels = static_cast<int64_t>(queries_.panels.size());
    constexpr int64_t kPanelsAtOnce = 16;
    const int64_t parts = (panels + kPanelsAtOnce - 1) / kPanelsAtOnce;
    parallel_for(heads_.size() * parts, problem_.threads, [&](int64_t i) {
      const int64_t head = heads_.begin + i / parts, first = i % parts * kPanelsAtOnce;
      for (int64_t panel = first; panel < std::min(panels, first + kPanelsAtOnce); ++panel)
        if (packed_.covered(panel, head)) work(panel, head);
    });
  }

  void note_keys() {
    const int64_t blocks = static_cast<int64_t>(kv_.count());
    parallel_for(kv_heads_.size() * blocks, problem_.threads, [&](int64_t i) {
      const int64_t kv_head = kv_heads_.begin + i / blocks;
      const Range rows = kv_.rows(i % blocks);
      auto magnitude = [&](const ConstTensorView& t) {
        return kernels_.magnitude(bfloat16_row(t, rows.begin, kv_head), t.token_stride,
                                  static_cast<int>(rows.size()), static_cast<int>(t.dim));
      };
      fitting_.note(kv_head, TileHeads::kK, magnitude(tensors_.k));
      fitting_.note(kv_head, TileHeads::kV, magnitude(tensors_.v));
    });
  }

  void run_items() {
    const BackwardPlan plan(problem_, kv_, queries_, kv_heads_);
    Turns turns(heads_.size(), static_cast<int64_t>(queries_.blocks.size()));
    Lending<TileBlockRunner> runners;
    parallel_for(static_cast<int64_t>(plan.items().size()), problem_.threads, [&](int64_t i) {
      if (!fits(plan.items()[i].kv_head)) return;
      try {
        const TileSession session(kernels_);
        runners.with(
            [&] {
              return std::make_unique<TileBlockRunner>(kernels_, problem_, tensors_, kv_, queries_, packed_);
            },
            [&](TileBlockRunner& runner) { run_item(problem_, plan, i, heads_.begin, turns, runner); });
      } catch (...) {
        turns.fail();
        throw;
      }
    });
  }

  void run_fallback(int64_t kv_head) const {
    const OneHead one(problem_, kv_head);
    BackwardTensors t = tensors_;
    for (ConstTensorView* view : {&t.q, &t.lse, &t.dout, has_delta(t) ? &t.delta : &t.out})
      *view = one.of_queries(*view);
    for (ConstTensorView* view : {&t.k, &t.v}) *view = one.of_keys(*view);
    t.dq = one.of_queries(t.dq);
    t.dk = one.of_keys(t.dk);
    t.dv = one.of_keys(t.dv);
    fallback_.backward(one.problem(), t);
  }

  const TileKernels& kernels_;
  const Backend& fallback_;
  const AttentionProblem& problem_;
  const BackwardTensors& tensors_;
  const KvBlocks& kv_;
  const QueryBlocks& queries_;
  const Range kv_heads_, heads_;
  TileHeads fitting_;
  TileQueries packed_;
};

}  // namespace

void tile_backward(const TileKernels& kernels, const Backend& fallback, const AttentionProblem& problem,
                   const BackwardTensors& tensors) {
  const KvBlocks kv(problem.tiles, kKeysPerTileBlock);
  const QueryBlocks queries(problem.tiles, kPairRows, kMaxQueryPairs);
  for_head_batches(problem, queries, TileQueries::floats_per_panel(problem.shape), [&](Range kv_heads) {
    HeadBatch(kernels, fallback, problem, tensors, kv, queries, kv_heads).run();
  });
}

}  // namespace counterpoise
