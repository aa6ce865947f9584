// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kernels/backend.h"
#include "kernels/tiles/tile_kernels.h"

namespace counterpoise {

// FlashAttention forward (Dao et al. 2022) with bfloat16 products: q, k and v are bfloat16. Heads whose
// values do not fit (TileHeads) go to `fallback`.
void tile_forward(const TileKernels& kernels, const Backend& fallback, const AttentionProblem& problem,
                  const ForwardTensors& tensors);

}  // namespace counterpoise
