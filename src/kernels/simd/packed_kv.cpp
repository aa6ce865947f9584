// SPDX-License-Identifier: Apache-2.0
#include "kernels/simd/packed_kv.h"

#include "counterpoise/parallel.h"
#include "kernels/dtype.h"
#include "kernels/simd/float_rows.h"

namespace counterpoise {

namespace {

// Packing v pays where every row of it meets hundreds of queries; fewer read it where it lies.
bool meets_many_queries(const AttentionProblem& problem, int64_t kv_rows) {
  constexpr double kMany = 512;
  double pairs = 0;
  for (const AttentionTile& tile : problem.tiles)
    pairs +=
        static_cast<double>(area(tile.q, tile.kv, problem.mask)) * static_cast<double>(tile.heads.size());
  return pairs > kMany * static_cast<double>(kv_rows * problem.shape.kv_heads);
}

}  // namespace

PackedKv::PackedKv(const ForwardKernels& kernels, const AttentionProblem& problem, const ConstTensorView& k,
                   const ConstTensorView& v, int64_t block_size)
    : kernels_(kernels),
      blocks_(problem.tiles, block_size),
      k_(k),
      v_(v),
      v_in_place_(kernels.strided_values && v.dtype == DType::kFloat32 && v.dim % kernels.rows == 0 &&
                  !meets_many_queries(problem, blocks_.total_rows())),
      padded_value_dim_((v.dim + kernels.rows - 1) / kernels.rows * kernels.rows),
      finite_(blocks_.count() * problem.shape.kv_heads) {
  if (k.dtype != DType::kFloat32) widened_k_ = Buffer(blocks_.total_rows() * k.heads * k.dim);
  if (!v_in_place_) packed_v_ = Buffer(blocks_.total_rows() * v.heads * padded_value_dim_);
  if (k.dtype == DType::kFloat32 && v_in_place_) return;
  const int64_t count = static_cast<int64_t>(blocks_.count());
  parallel_for(problem.shape.kv_heads * count, problem.threads,
               [&](int64_t i) { pack(i % count, i / count); });
}

void PackedKv::pack(size_t block, int64_t kv_head) {
  const Range rows = blocks_.rows(block);
  if (!v_in_place_) {
    Buffer staging(v_.dtype == DType::kFloat32 ? 0 : rows.size() * v_.dim);
    const FloatRows v = float_rows(v_, rows, kv_head, staging.data());
    const int keys = static_cast<int>(rows.size()), dim = static_cast<int>(v_.dim);
    const bool finite = kernels_.all_finite(v.data, v.stride, keys, dim);
    finite_[kv_head * blocks_.count() + block] = finite ? kYes : kNo;
    kernels_.pack_values(v.data, v.stride, keys, dim, const_cast<float*>(this->v(block, kv_head)));
  }
  if (k_.dtype != DType::kFloat32) float_rows(k_, rows, kv_head, const_cast<float*>(k(block, kv_head)));
}

const float* PackedKv::k(size_t block, int64_t kv_head) const {
  if (k_.dtype == DType::kFloat32)
    return static_cast<const float*>(row_address(k_, blocks_.rows(block).begin, kv_head));
  return widened_k_.data() + (kv_head * blocks_.total_rows() + blocks_.offset(block)) * k_.dim;
}

const float* PackedKv::v(size_t block, int64_t kv_head) const {
  if (v_in_place_) return static_cast<const float*>(row_address(v_, blocks_.rows(block).begin, kv_head));
  return packed_v_.data() + (kv_head * blocks_.total_rows() + blocks_.offset(block)) * padded_value_dim_;
}

bool PackedKv::finite(size_t block, int64_t kv_head) const {
  std::atomic<Finite>& known = finite_[kv_head * blocks_.count() + block];
  Finite finite = known.load(std::memory_order_relaxed);
  if (finite == kUnknown) {  // only in place; several threads may find out at once, and find the same
    const int keys = static_cast<int>(blocks_.rows(block).size()), dim = static_cast<int>(v_.dim);
    finite = kernels_.all_finite(v(block, kv_head), v_.token_stride, keys, dim) ? kYes : kNo;
    known.store(finite, std::memory_order_relaxed);
  }
  return finite == kYes;
}

}  // namespace counterpoise
