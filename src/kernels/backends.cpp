// SPDX-License-Identifier: Apache-2.0
#include "kernels/backend.h"
#include "kernels/simd/backward_driver.h"
#include "kernels/simd/forward_driver.h"
#include "kernels/tiles/backward_driver.h"
#include "kernels/tiles/forward_driver.h"

namespace counterpoise {

extern const ForwardKernels kForwardPortable;
extern const BackwardKernels kBackwardPortable;
#if defined(__x86_64__)
extern const ForwardKernels kForwardAvx2;
extern const BackwardKernels kBackwardAvx2;
extern const ForwardKernels kForwardAvx512;
extern const BackwardKernels kBackwardAvx512;
extern const TileKernels kTilesAmx;
extern const TileKernels kTilesDot;
#endif

namespace {

template <const ForwardKernels& kernels>
void forward(const AttentionProblem& problem, const ForwardTensors& tensors) {
  blocked_forward(kernels, problem, tensors);
}

template <const BackwardKernels& kernels>
void backward(const AttentionProblem& problem, const BackwardTensors& tensors) {
  blocked_backward(kernels, problem, tensors);
}

template <const ForwardKernels& forward_kernels, const BackwardKernels& backward_kernels>
constexpr Backend backend() {
  return {forward<forward_kernels>, backward<backward_kernels>};
}

#if defined(__x86_64__)
constexpr Backend kAvx512 = backend<kForwardAvx512, kBackwardAvx512>();

// What tile products cannot do is left to the float32 kernels of AVX-512, which every CPU with tiles has.
template <const TileKernels& kernels>
constexpr Backend tile_backend() {
  return {[](const AttentionProblem& problem, const ForwardTensors& tensors) {
            tile_forward(kernels, kAvx512, problem, tensors);
          },
          [](const AttentionProblem& problem, const BackwardTensors& tensors) {
            tile_backward(kernels, kAvx512, problem, tensors);
          }};
}
#endif

}  // namespace

const Backend* backend_of(Isa isa) {
  static constexpr Backend portable = backend<kForwardPortable, kBackwardPortable>();
  if (isa == Isa::kPortable) return &portable;
#if defined(__x86_64__)
  static constexpr Backend avx2 = backend<kForwardAvx2, kBackwardAvx2>();
  if (isa == Isa::kAvx2) return &avx2;
  if (isa == Isa::kAvx512) return &kAvx512;
  static constexpr Backend avx512_bf16 = tile_backend<kTilesDot>(), amx = tile_backend<kTilesAmx>();
  if (isa == Isa::kAvx512Bf16) return &avx512_bf16;
  if (isa == Isa::kAmx) return &amx;
#endif
  return nullptr;
}

}  // namespace counterpoise
