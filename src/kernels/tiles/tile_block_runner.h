// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kernels/simd/backward_plan.h"
#include "kernels/tiles/tile_queries.h"

namespace counterpoise {

// Works through one item of the backward plan: a block of keys of one key/value head, its dk and dv.
class TileBlockRunner {
 public:
  TileBlockRunner(const TileKernels& kernels, const AttentionProblem& problem, const BackwardTensors& tensors,
                  const KvBlocks& kv, const QueryBlocks& queries, const TileQueries& packed);

  void begin(const BackwardPlan::Item& item);
  // p and ds of the visit, and what they add to the block's dk and dv.
  void attend(const BackwardPlan::Visit& visit);
  // What the visit adds to dq.
  void add_query_gradients() { kernels_.query_gradients(args_); }
  // Adds the block's dk and dv to the tensors.
  void finish();

 private:
  void add_rows(const float* from, int pairs, float scale, const TensorView& to) const;

  const TileKernels& kernels_;
  const AttentionProblem& problem_;
  const BackwardTensors& tensors_;
  const KvBlocks& kv_;
  const QueryBlocks& queries_;
  const TileQueries& packed_;
  const int q_pairs_, v_pairs_;
  Buffer keys_, gradients_, scratch_;
  Range rows_;
  int64_t kv_head_ = 0;
  TileGradientArgs args_{};
};

}  // namespace counterpoise
