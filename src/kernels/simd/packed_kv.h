// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <atomic>
#include <vector>

#include "kernels/backend.h"
#include "kernels/simd/buffer.h"
#include "kernels/simd/kernels.h"
#include "kernels/simd/kv_blocks.h"

namespace counterpoise {

// k and v as the kernels read them: k as float32 rows, v in groups of columns; where they lie when that fits,
// else copies. May be read by several threads.
class PackedKv {
 public:
  PackedKv(const ForwardKernels& kernels, const AttentionProblem& problem, const ConstTensorView& k,
           const ConstTensorView& v, int64_t block_size);

  const KvBlocks& blocks() const { return blocks_; }
  const float* k(size_t block, int64_t kv_head) const;
  int64_t k_stride() const { return k_.dtype == DType::kFloat32 ? k_.token_stride : k_.dim; }

  // As ValueArgs has it.
  const float* v(size_t block, int64_t kv_head) const;
  int64_t v_key_stride() const { return v_in_place_ ? v_.token_stride : kernels_.rows; }
  int64_t v_group_stride(size_t block) const {
    return v_in_place_ ? kernels_.rows : blocks_.rows(block).size() * kernels_.rows;
  }
  // No infinity and no NaN among the block's values. Looked for when first asked, since the values are used
  // next.
  bool finite(size_t block, int64_t kv_head) const;

 private:
  enum Finite : char { kUnknown, kYes, kNo };

  void pack(size_t block, int64_t kv_head);

  const ForwardKernels& kernels_;
  KvBlocks blocks_;
  ConstTensorView k_, v_;
  const bool v_in_place_;
  int64_t padded_value_dim_;
  Buffer packed_v_, widened_k_;
  mutable std::vector<std::atomic<Finite>> finite_;
};

}  // namespace counterpoise
