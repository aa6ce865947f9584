// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "counterpoise/attention.h"
#include "counterpoise/plan.h"

namespace counterpoise {

// Floats of one row and one head.
inline int64_t payload_width(const AttentionShape& shape, Payload payload) {
  AttentionShape in_floats = shape;
  in_floats.element_bytes = 4;
  return payload_bytes(in_floats, payload) / 4;
}

// A buffer's rows in memory: (row, head, payload), heads [heads.begin, heads.end) only.
struct Rows {
  float* data = nullptr;
  HeadRange heads;
  int64_t width = 0;

  int64_t stride() const { return heads.size() * width; }
  float* at(int64_t row, int32_t head) const { return data + row * stride() + (head - heads.begin) * width; }

  // `dim` floats of each row and head, from float `offset` on, as the kernels see them: heads counted from 0,
  // so that the address of head 0 may lie before the rows. Heads outside `heads` must not be asked for.
  TensorView view(int64_t first_row, int64_t rows, int64_t all_heads, int64_t offset, int64_t dim) const {
    const auto address = reinterpret_cast<uintptr_t>(data + first_row * stride() + offset) -
                         static_cast<uintptr_t>(heads.begin * width) * sizeof(float);
    return {reinterpret_cast<void*>(address), DType::kFloat32, rows, all_heads, dim, stride(), width};
  }
};

}  // namespace counterpoise
