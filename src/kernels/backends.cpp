// SPDX-License-Identifier: Apache-2.0
#include "kernels/backend.h"
#include "kernels/rows/rows.h"
#include "kernels/simd/forward_driver.h"

namespace counterpoise {

extern const ForwardKernels kForwardPortable;
#if defined(__x86_64__)
extern const ForwardKernels kForwardAvx2;
extern const ForwardKernels kForwardAvx512;
#endif

namespace {

template <const ForwardKernels& kernels>
void forward(const AttentionProblem& problem, const ForwardTensors& tensors) {
  blocked_forward(kernels, problem, tensors);
}

template <const ForwardKernels& kernels>
constexpr Backend backend() {
  return {forward<kernels>, rows_backward};
}

}  // namespace

const Backend* backend_of(Isa isa) {
  static constexpr Backend portable = backend<kForwardPortable>();
  if (isa == Isa::kPortable) return &portable;
#if defined(__x86_64__)
  static constexpr Backend avx2 = backend<kForwardAvx2>(), avx512 = backend<kForwardAvx512>();
  if (isa == Isa::kAvx2) return &avx2;
  if (isa == Isa::kAvx512) return &avx512;
#endif
  return nullptr;
}

}  // namespace counterpoise
