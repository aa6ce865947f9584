// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kernels/dtype.h"

namespace counterpoise {

// Rows of one head as float32: where they lie and how far apart.
struct FloatRows {
  const float* data;
  int64_t stride;
};

// In place when they are float32 already, else widened into `staging` (rows.size() * t.dim floats).
inline FloatRows float_rows(const ConstTensorView& t, Range rows, int64_t head, float* staging) {
  if (t.dtype == DType::kFloat32)
    return {static_cast<const float*>(row_address(t, rows.begin, head)), t.token_stride};
  for (int64_t i = 0; i < rows.size(); ++i)
    load_row(row_address(t, rows.begin + i, head), t.dtype, t.dim, staging + i * t.dim);
  return {staging, t.dim};
}

}  // namespace counterpoise
