// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kernels/backend.h"
#include "kernels/simd/backward_args.h"
#include "kernels/simd/buffer.h"
#include "kernels/simd/query_blocks.h"

namespace counterpoise {

inline int64_t round_up(int64_t x, int64_t step) {
  return (x + step - 1) / step * step;
}

// Everything the backward pass reads per query, packed once: q and dout with queries in lanes and as strips,
// lse and delta. Holds the query heads [heads.begin, heads.end).
class PackedQueries {
 public:
  PackedQueries(const BackwardKernels& kernels, const AttentionProblem& problem,
                const BackwardTensors& tensors, const QueryBlocks& queries, Range heads);

  static int64_t floats_per_panel(const BackwardKernels& kernels, const HeadShape& shape);

  struct Panel {
    float *q, *dout;                // [dim][width]
    float *lse, *delta;             // [width]
    float *q_strips, *dout_strips;  // [strips][width][strip]
  };
  Panel panel(int64_t panel, int64_t head) const;
  // Packs one panel; false when something that is summed over queries is infinite or NaN.
  bool pack(int64_t panel, int64_t head, float* staging);
  int64_t staging_floats() const;

 private:
  void pack_delta(Range rows, int64_t head, const Panel& panel, float* staging) const;

  const BackwardKernels& kernels_;
  const AttentionProblem& problem_;
  const BackwardTensors& tensors_;
  const QueryBlocks& queries_;
  const Range heads_;
  const int64_t panel_floats_;
  mutable Buffer buffer_;
};

}  // namespace counterpoise
