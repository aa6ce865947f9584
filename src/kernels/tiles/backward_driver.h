// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kernels/backend.h"
#include "kernels/tiles/tile_kernels.h"

namespace counterpoise {

// FlashAttention backward (Dao et al. 2022) with bfloat16 products, in the order of simd/backward_driver.h:
// q, k, v and dout are bfloat16. Heads whose values do not fit (TileHeads) go to `fallback`.
void tile_backward(const TileKernels& kernels, const Backend& fallback, const AttentionProblem& problem,
                   const BackwardTensors& tensors);

}  // namespace counterpoise
