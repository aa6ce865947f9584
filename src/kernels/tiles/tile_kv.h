// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "kernels/simd/buffer.h"
#include "kernels/simd/kv_blocks.h"
#include "kernels/tiles/tile_heads.h"

namespace counterpoise {

// k and v of every used row as the forward pass multiplies them, in blocks of 32-key chunks.
class TileKv {
 public:
  TileKv(const TileKernels& kernels, const AttentionProblem& problem, const ConstTensorView& k,
         const ConstTensorView& v, TileHeads& heads);

  const KvBlocks& blocks() const { return blocks_; }
  int chunks(size_t block) const { return static_cast<int>(first_chunk_[block + 1] - first_chunk_[block]); }
  const uint32_t* k(size_t block, int64_t kv_head) const { return words(block, kv_head); }
  const uint32_t* v(size_t block, int64_t kv_head) const {
    return words(block, kv_head) + chunks(block) * k_pairs_ * kPairWords;
  }

 private:
  uint32_t* words(size_t block, int64_t kv_head) const;
  void pack(const TileKernels& kernels, size_t block, int64_t kv_head, const ConstTensorView& k,
            const ConstTensorView& v, TileHeads& heads);

  KvBlocks blocks_;
  std::vector<int64_t> first_chunk_;  // of each block, and the total
  int k_pairs_, v_pairs_;
  mutable Buffer words_;
};

}  // namespace counterpoise
