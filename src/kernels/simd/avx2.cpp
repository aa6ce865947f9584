// SPDX-License-Identifier: Apache-2.0
#include "kernels/simd/backward_kernels.h"
#include "kernels/simd/forward_kernels.h"
#include "kernels/simd/vec_avx2.h"

namespace counterpoise {

extern const ForwardKernels kForwardAvx2;
extern const BackwardKernels kBackwardAvx2;
const ForwardKernels kForwardAvx2 = forward_kernels<VecAvx2>();
const BackwardKernels kBackwardAvx2 = backward_kernels<VecAvx2>();

}  // namespace counterpoise
