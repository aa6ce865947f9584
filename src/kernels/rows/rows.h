// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kernels/backend.h"

namespace counterpoise {

// The backward pass one row at a time, in plain float32 loops over the visible keys only: no masked key is
// ever read, so an infinity or NaN reaches exactly the rows that see it. The blocked kernels hand it such
// heads. One key/value head and its query heads.
void rows_backward_head(const AttentionProblem& problem, const BackwardTensors& tensors, int64_t kv_head);

}  // namespace counterpoise
