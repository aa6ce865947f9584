// SPDX-License-Identifier: Apache-2.0
#include "kernels/simd/forward_kernels.h"
#include "kernels/simd/vec_avx512.h"

namespace counterpoise {

extern const ForwardKernels kForwardAvx512;
const ForwardKernels kForwardAvx512 = forward_kernels<VecAvx512>();

}  // namespace counterpoise
