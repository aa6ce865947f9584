// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kernels/backend.h"
#include "kernels/simd/kernels.h"

namespace counterpoise {

// FlashAttention forward (Dao et al. 2022) over panels of queries and blocks of keys.
void blocked_forward(const ForwardKernels& kernels, const AttentionProblem& problem,
                     const ForwardTensors& tensors);

}  // namespace counterpoise
