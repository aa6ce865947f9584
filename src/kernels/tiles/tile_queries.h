// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kernels/simd/buffer.h"
#include "kernels/simd/query_blocks.h"
#include "kernels/tiles/tile_heads.h"

namespace counterpoise {

// Everything the backward pass reads per query, packed once, and the sums of dq: panels of 32 queries for the
// query heads [heads.begin, heads.end).
class TileQueries {
 public:
  TileQueries(const TileKernels& kernels, const AttentionProblem& problem, const BackwardTensors& tensors,
              const QueryBlocks& queries, Range heads);

  static int64_t floats_per_panel(const HeadShape& shape);

  struct Panel {
    uint32_t *q, *dout, *q_rows, *dout_rows;  // as in TileGradientArgs
    float *lse, *delta, *dq;
  };
  Panel panel(int64_t panel, int64_t head) const;
  // Does a tile hold the panel's rows for this head? Others are neither read nor written.
  bool covered(int64_t panel, int64_t head) const;
  // Packs a panel and notes what the tile products must know of its values; dq starts at zero.
  void pack(int64_t panel, int64_t head, TileHeads& heads);
  // dq of the tensor += the panel's sums.
  void add_query_gradients(int64_t panel, int64_t head) const;

 private:
  void set_delta(const Panel& panel, Range rows, int64_t head) const;
  void set_statistics(const Panel& panel, Range rows, int64_t head, TileHeads& heads) const;

  const TileKernels& kernels_;
  const AttentionProblem& problem_;
  const BackwardTensors& tensors_;
  const QueryBlocks& queries_;
  const Range heads_;
  const int q_pairs_, v_pairs_;
  std::vector<int64_t> strip_of_panel_;
  mutable Buffer buffer_;
};

}  // namespace counterpoise
