// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kernels/amx/tile_kernels.h"
#include "kernels/backend.h"

namespace counterpoise {

// FlashAttention forward (Dao et al. 2022) with bfloat16 products: q, k and v are bfloat16. Heads whose
// values do not fit (TileHeads) go to `fallback`.
void tile_forward(const TileKernels& kernels, const Backend& fallback, const AttentionProblem& problem,
                  const ForwardTensors& tensors);

}  // namespace counterpoise
