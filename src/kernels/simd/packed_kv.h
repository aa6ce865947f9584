// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "kernels/backend.h"
#include "kernels/simd/buffer.h"
#include "kernels/simd/kernels.h"
#include "kernels/simd/kv_blocks.h"

namespace counterpoise {

// v of every used row in the kernels' layout, and k as float32 rows (k itself where it is float32 already).
class PackedKv {
 public:
  PackedKv(const ForwardKernels& kernels, const AttentionProblem& problem, const ConstTensorView& k,
           const ConstTensorView& v, int64_t block_size);

  const KvBlocks& blocks() const { return blocks_; }
  const float* v(size_t block, int64_t kv_head) const {
    return v_.data() + (kv_head * blocks_.total_rows() + blocks_.offset(block)) * padded_value_dim_;
  }
  // No infinity and no NaN among the block's values.
  bool finite(size_t block, int64_t kv_head) const { return finite_[kv_head * blocks_.count() + block]; }

  const float* k(size_t block, int64_t kv_head) const;
  int64_t k_stride() const { return k_.dtype == DType::kFloat32 ? k_.token_stride : k_.dim; }

 private:
  void pack(const ForwardKernels& kernels, size_t block, int64_t kv_head, const ConstTensorView& v);

  KvBlocks blocks_;
  ConstTensorView k_;
  int64_t padded_value_dim_;
  Buffer v_, widened_k_;
  std::vector<char> finite_;
};

}  // namespace counterpoise
