// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "counterpoise/attention.h"
#include "counterpoise/error.h"

namespace counterpoise {

TensorView packed_view(void* data, DType dtype, int64_t tokens, int64_t heads, int64_t dim) {
  return {data, dtype, tokens, heads, dim, heads * dim, dim};
}

ConstTensorView packed_view(const void* data, DType dtype, int64_t tokens, int64_t heads, int64_t dim) {
  return {data, dtype, tokens, heads, dim, heads * dim, dim};
}

TensorView lse_view(float* data, int64_t tokens, int64_t heads) {
  return {data, DType::kFloat32, tokens, heads, 1, 1, tokens};
}

ConstTensorView lse_view(const float* data, int64_t tokens, int64_t heads) {
  return {data, DType::kFloat32, tokens, heads, 1, 1, tokens};
}

double HeadShape::scale() const {
  return softmax_scale != 0 ? softmax_scale : 1 / std::sqrt(static_cast<double>(head_dim));
}

std::vector<AttentionTile> tiles_of_documents(std::span<const int64_t> cu_seqlens, int64_t heads) {
  if (cu_seqlens.empty())
    throw_error(ErrorKind::kUsage, "cu_seqlens is empty: it needs at least the offset 0");
  std::vector<AttentionTile> tiles;
  for (size_t i = 0; i + 1 < cu_seqlens.size(); ++i) {
    const int64_t begin = cu_seqlens[i], length = cu_seqlens[i + 1] - begin;
    if (begin < 0 || length < 0)
      throw_error(ErrorKind::kUsage, "cu_seqlens[{}] = {} after {}: offsets must ascend from 0", i + 1,
                  cu_seqlens[i + 1], begin);
    if (length > 0) tiles.push_back({{0, length}, {0, length}, {0, heads}, begin, begin});
  }
  return tiles;
}

double attention_flops(std::span<const AttentionTile> tiles, const HeadShape& shape, Mask mask,
                       bool backward) {
  const double d = static_cast<double>(shape.head_dim), dv = static_cast<double>(shape.value_dim());
  const double per_pair = backward ? 2 * (3 * d + 2 * dv) : 2 * (d + dv);
  double pairs = 0;
  for (const AttentionTile& tile : tiles)
    pairs += static_cast<double>(area(tile.q, tile.kv, mask)) * static_cast<double>(tile.heads.size());
  return pairs * per_pair;
}

}  // namespace counterpoise
