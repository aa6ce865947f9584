// SPDX-License-Identifier: Apache-2.0
#include "kernels/tiles/tile_kv.h"

#include <algorithm>

#include "counterpoise/parallel.h"

namespace counterpoise {

TileKv::TileKv(const TileKernels& kernels, const AttentionProblem& problem, const ConstTensorView& k,
               const ConstTensorView& v, TileHeads& heads)
    : blocks_(problem.tiles, kKeysPerTileBlock),
      first_chunk_{0},
      k_pairs_(tile_pairs(k.dim)),
      v_pairs_(tile_pairs(v.dim)) {
  for (size_t block = 0; block < blocks_.count(); ++block)
    first_chunk_.push_back(first_chunk_.back() + tile_pairs(blocks_.rows(block).size()));
  words_ = Buffer(problem.shape.kv_heads * first_chunk_.back() * (k_pairs_ + v_pairs_) * kPairWords);
  const int64_t count = static_cast<int64_t>(blocks_.count());
  parallel_for(problem.shape.kv_heads * count, problem.threads,
               [&](int64_t i) { pack(kernels, i % count, i / count, k, v, heads); });
}

uint32_t* TileKv::words(size_t block, int64_t kv_head) const {
  return reinterpret_cast<uint32_t*>(words_.data()) +
         (kv_head * first_chunk_.back() + first_chunk_[block]) * (k_pairs_ + v_pairs_) * kPairWords;
}

void TileKv::pack(const TileKernels& kernels, size_t block, int64_t kv_head, const ConstTensorView& k,
                  const ConstTensorView& v, TileHeads& heads) {
  const Range rows = blocks_.rows(block);
  uint32_t* to_k = words(block, kv_head);
  uint32_t* to_v = to_k + chunks(block) * k_pairs_ * kPairWords;
  const int k_dim = static_cast<int>(k.dim), v_dim = static_cast<int>(v.dim);
  for (int chunk = 0; chunk < chunks(block); ++chunk) {
    const int64_t row = rows.begin + chunk * kPairRows;
    const int count = static_cast<int>(std::min<int64_t>(kPairRows, rows.end - row));
    const uint16_t *from_k = bfloat16_row(k, row, kv_head), *from_v = bfloat16_row(v, row, kv_head);
    heads.note(kv_head, TileHeads::kK, kernels.magnitude(from_k, k.token_stride, count, k_dim));
    heads.note(kv_head, TileHeads::kV, kernels.magnitude(from_v, v.token_stride, count, v_dim));
    kernels.pack_left(from_k, k.token_stride, count, k_dim, to_k + chunk * k_pairs_ * kPairWords, kPairWords);
    kernels.pack_left_row_pairs(from_v, v.token_stride, count, v_dim, to_v + chunk * kPairWords,
                                static_cast<int64_t>(chunks(block)) * kPairWords);
  }
}

}  // namespace counterpoise
