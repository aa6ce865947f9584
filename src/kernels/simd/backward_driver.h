// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kernels/backend.h"
#include "kernels/simd/backward_args.h"

namespace counterpoise {

// FlashAttention backward (Dao et al. 2022), key blocks outside, query blocks inside. dq is summed in the
// order of the key blocks, whatever the number of threads.
void blocked_backward(const BackwardKernels& kernels, const AttentionProblem& problem,
                      const BackwardTensors& tensors);

}  // namespace counterpoise
