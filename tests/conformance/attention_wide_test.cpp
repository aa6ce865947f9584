// SPDX-License-Identifier: Apache-2.0
// The tile shapes of AVX-512 (16 lanes, 8 x 3 and 6 x 4 registers) on any CPU, in the compiler's own vectors:
// panels of 48 queries, strips of 64 columns. Only the wrappers and the assembly of the real set stay
// untested here.
#pragma GCC diagnostic ignored "-Wpsabi"  // wide vectors are only passed between inlined functions
#include "attention_cases.h"
#include "kernels/simd/backward_driver.h"
#include "kernels/simd/backward_kernels.h"
#include "kernels/simd/forward_driver.h"
#include "kernels/simd/forward_kernels.h"
#include "kernels/simd/vec_portable.h"

namespace counterpoise {
namespace {

using namespace testing_attention;

constexpr uint64_t kSeed = 51;
using Wide = VecPortable<16, 8, 6, 4, true>;
constexpr ForwardKernels kForward = forward_kernels<Wide>();
constexpr BackwardKernels kBackward = backward_kernels<Wide>();

AttentionProblem problem_of(const Problem& p) {
  HeadShape shape = p.shape;
  shape.softmax_scale = shape.scale();
  shape.v_head_dim = shape.value_dim();
  return {p.tiles, shape, p.mask, 2, false};
}

TEST(AttentionWide, ShapesOfAvx512AgreeWithTheOracle) {
  const Runner runner{
      [](const Problem& p, const ForwardTensors& t) { blocked_forward(kForward, problem_of(p), t); },
      [](const Problem& p, const BackwardTensors& t) { blocked_backward(kBackward, problem_of(p), t); }};
  RandomStream random(kSeed);
  for (const int64_t n : {1, 7, 15, 16, 17, 33, 47, 48, 49, 97, 150, 200}) {
    for (const Mask mask : {Mask::full(), Mask::causal(), Mask::sliding_window(20)}) {
      for (const HeadShape shape : {HeadShape{2, 1, 64}, HeadShape{1, 1, 37, 20}}) {
        const Problem p = document_problem(n, shape, mask);
        SCOPED_TRACE(::testing::Message() << "seed " << kSeed << " length " << n << " " << describe(p));
        const Data data(p, random);
        expect_forward_matches(p, data, runner);
        expect_backward_matches(p, data, runner);
        if (HasFatalFailure()) return;
      }
    }
  }
}

}  // namespace
}  // namespace counterpoise
