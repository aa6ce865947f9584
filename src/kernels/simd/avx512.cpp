// SPDX-License-Identifier: Apache-2.0
#include "kernels/simd/backward_kernels.h"
#include "kernels/simd/forward_kernels.h"
#include "kernels/simd/vec_avx512.h"

namespace counterpoise {

extern const ForwardKernels kForwardAvx512;
extern const BackwardKernels kBackwardAvx512;
const ForwardKernels kForwardAvx512 = forward_kernels<VecAvx512>();
const BackwardKernels kBackwardAvx512 = backward_kernels<VecAvx512>();

}  // namespace counterpoise
