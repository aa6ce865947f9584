// SPDX-License-Identifier: Apache-2.0
#include "kernels/tiles/backward_driver.h"

#include "kernels/simd/head_batch.h"
#include "kernels/simd/lending.h"
#include "kernels/tiles/tile_block_runner.h"

namespace counterpoise {
namespace {

// The backward pass of one batch of heads.
class BatchBackward {
 public:
  BatchBackward(const TileKernels& kernels, const Backend& fallback, const BackwardTensors& tensors,
                const HeadBatch& batch)
      : kernels_(kernels),
        fallback_(fallback),
        tensors_(tensors),
        batch_(batch),
        fitting_(batch.problem),
        packed_(kernels, batch.problem, tensors, batch.queries, batch.heads) {}

  void run() {
    for_each_panel([&](int64_t panel, int64_t head) { packed_.pack(panel, head, fitting_); });
    note_keys();
    run_items();
    for_each_panel([&](int64_t panel, int64_t head) {
      if (fits(head / batch_.problem.group())) packed_.add_query_gradients(panel, head);
    });
    for (int64_t head = batch_.kv_heads.begin; head < batch_.kv_heads.end; ++head)
      if (!fits(head)) run_fallback(head);
  }

 private:
  bool fits(int64_t kv_head) const { return fitting_.backward_fits(kv_head); }

  template <typename F>
  void for_each_panel(F work) {
    batch_.for_panels([&](Range panels, int64_t head) {
      for (int64_t panel = panels.begin; panel < panels.end; ++panel)
        if (packed_.covered(panel, head)) work(panel, head);
    });
  }

  void note_keys() {
    batch_.for_key_blocks([&](Range rows, int64_t kv_head) {
      auto magnitude = [&](const ConstTensorView& t) {
        return kernels_.magnitude(bfloat16_row(t, rows.begin, kv_head), t.token_stride,
                                  static_cast<int>(rows.size()), static_cast<int>(t.dim));
      };
      fitting_.note(kv_head, TileHeads::kK, magnitude(tensors_.k));
      fitting_.note(kv_head, TileHeads::kV, magnitude(tensors_.v));
    });
  }

  void run_items() {
    Lending<TileBlockRunner> runners;
    const auto make = [this] {
      return std::make_unique<TileBlockRunner>(kernels_, batch_.problem, tensors_, batch_.kv, batch_.queries,
                                               packed_);
    };
    batch_.run_items([this](int64_t kv_head) { return fits(kv_head); },
                     [&](auto run) {
                       const TileSession session(kernels_);
                       runners.with(make, run);
                     });
  }

  void run_fallback(int64_t kv_head) const {
    const OneHead one(batch_.problem, kv_head);
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
  const BackwardTensors& tensors_;
  const HeadBatch& batch_;
  TileHeads fitting_;
  TileQueries packed_;
};

}  // namespace

void tile_backward(const TileKernels& kernels, const Backend& fallback, const AttentionProblem& problem,
                   const BackwardTensors& tensors) {
  const KvBlocks kv(problem.tiles, kKeysPerTileBlock);
  const QueryBlocks queries(problem.tiles, kPairRows, kMaxQueryPairs);
  for_head_batches(problem, kv, queries, TileQueries::floats_per_panel(problem.shape),
                   [&](const HeadBatch& batch) { BatchBackward(kernels, fallback, tensors, batch).run(); });
}

}  // namespace counterpoise
