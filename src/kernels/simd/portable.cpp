// SPDX-License-Identifier: Apache-2.0
#include "kernels/simd/backward_kernels.h"
#include "kernels/simd/forward_kernels.h"
#include "kernels/simd/vec_portable.h"

namespace counterpoise {

extern const ForwardKernels kForwardPortable;
extern const BackwardKernels kBackwardPortable;
const ForwardKernels kForwardPortable = forward_kernels<VecPortable<4>>();
const BackwardKernels kBackwardPortable = backward_kernels<VecPortable<4>>();

}  // namespace counterpoise
