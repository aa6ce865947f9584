// SPDX-License-Identifier: Apache-2.0
#include "kernels/simd/packed_kv.h"

#include "counterpoise/parallel.h"
#include "kernels/dtype.h"

namespace counterpoise {

PackedKv::PackedKv(const ForwardKernels& kernels, const AttentionProblem& problem, const ConstTensorView& k,
                   const ConstTensorView& v, int64_t block_size)
    : blocks_(problem.tiles, block_size),
      k_(k),
      padded_value_dim_((v.dim + kernels.rows - 1) / kernels.rows * kernels.rows),
      v_(blocks_.total_rows() * problem.shape.kv_heads * padded_value_dim_),
      finite_(blocks_.count() * problem.shape.kv_heads) {
  if (k.dtype != DType::kFloat32) widened_k_ = Buffer(blocks_.total_rows() * k.heads * k.dim);
  const int64_t count = static_cast<int64_t>(blocks_.count());
  parallel_for(problem.shape.kv_heads * count, problem.threads,
               [&](int64_t i) { pack(kernels, i % count, i / count, v); });
}

void PackedKv::pack(const ForwardKernels& kernels, size_t block, int64_t kv_head, const ConstTensorView& v) {
  const Range rows = blocks_.rows(block);
  const float* from = static_cast<const float*>(row_address(v, rows.begin, kv_head));
  int64_t stride = v.token_stride;
  Buffer widened;
  if (v.dtype != DType::kFloat32) {
    widened = Buffer(rows.size() * v.dim);
    for (int64_t row = 0; row < rows.size(); ++row)
      load_row(row_address(v, rows.begin + row, kv_head), v.dtype, v.dim, widened.data() + row * v.dim);
    from = widened.data();
    stride = v.dim;
  }
  finite_[kv_head * blocks_.count() + block] =
      kernels.pack_values(from, stride, static_cast<int>(rows.size()), static_cast<int>(v.dim),
                          const_cast<float*>(this->v(block, kv_head)));
  if (k_.dtype == DType::kFloat32) return;
  float* to = const_cast<float*>(k(block, kv_head));
  for (int64_t row = 0; row < rows.size(); ++row)
    load_row(row_address(k_, rows.begin + row, kv_head), k_.dtype, k_.dim, to + row * k_.dim);
}

const float* PackedKv::k(size_t block, int64_t kv_head) const {
  if (k_.dtype == DType::kFloat32)
    return static_cast<const float*>(row_address(k_, blocks_.rows(block).begin, kv_head));
  return widened_k_.data() + (kv_head * blocks_.total_rows() + blocks_.offset(block)) * k_.dim;
}

}  // namespace counterpoise
