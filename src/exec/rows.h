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

  // `dim` floats of each row and of the heads `of`, from float `offset` on, as the kernels see them: head
  // of.begin is head 0 there.
  TensorView view(int64_t first_row, int64_t rows, HeadRange of, int64_t offset, int64_t dim) const {
    return {at(first_row, of.begin) + offset, DType::kFloat32, rows, of.size(), dim, stride(), width};
  }
};

}  // namespace counterpoise
