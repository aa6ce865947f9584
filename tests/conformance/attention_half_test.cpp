// SPDX-License-Identifier: Apache-2.0
// bfloat16 and float16 storage: against the oracle on the same stored values, with at most twice the error of
// an exact softmax whose weights and output are rounded to the type.
#include "attention_half_cases.h"
#include "kernels/tiles/tile_kernels.h"

namespace counterpoise {
namespace {

using namespace testing_attention;

constexpr uint64_t kSeed = 41;

double exp_error(Isa isa) {
  return isa == Isa::kAvx512Bf16 || isa == Isa::kAmx ? kTileExp2Error : 0;
}

TEST(AttentionHalf, ErrorIsAtMostTwiceTheIdealOfTheType) {
  for (const Isa isa : available_isas()) {
    for (const DType dtype : {DType::kBFloat16, DType::kFloat16}) {
      RandomStream random(kSeed);
      for (const Mask mask : {Mask::full(), Mask::causal(), Mask::sliding_window(40)}) {
        for (const HeadShape shape : {HeadShape{2, 1, 64}, HeadShape{2, 2, 80, 48}}) {
          Problem p = document_problem(100, shape, mask);
          p.dtype = dtype;
          p.layout = {3, 1, 1};
          SCOPED_TRACE(::testing::Message() << isa_name(isa) << " seed " << kSeed << " " << describe(p));
          expect_half_matches(p, Data(p, random), with_isa(isa), exp_error(isa));
        }
      }
    }
  }
}

// One dominant key per row, most of the weight on it: where rounding weights before summing them would show.
TEST(AttentionHalf, ConcentratedRows) {
  for (const Isa isa : available_isas()) {
    RandomStream random(kSeed);
    Problem p = document_problem(150, {1, 1, 32}, Mask::causal());
    p.dtype = DType::kBFloat16;
    p.logit_scale = 6;
    SCOPED_TRACE(::testing::Message() << isa_name(isa) << " seed " << kSeed);
    expect_half_matches(p, Data(p, random), with_isa(isa), exp_error(isa));
  }
}

// Types may differ between tensors: each is read as what it is.
TEST(AttentionHalf, TypesMayDifferBetweenTensors) {
  for (const Isa isa : available_isas()) {
    RandomStream random(kSeed);
    Problem p = document_problem(130, {2, 1, 32}, Mask::causal());
    const Data wide(p, random);
    auto narrow = [&](const Tensor& t, DType dtype) {
      Tensor result(t.view().tokens, t.view().heads, t.view().dim, dtype);
      for (int64_t token = 0; token < t.view().tokens; ++token)
        for (int64_t head = 0; head < t.view().heads; ++head)
          for (int64_t i = 0; i < t.view().dim; ++i) result.set(token, head, i, t.get(token, head, i));
      return result;
    };
    const Tensor k = narrow(wide.k, DType::kBFloat16), v = narrow(wide.v, DType::kFloat16);
    const auto oracle =
        reference_forward<double>(p.tiles, p.shape, p.mask, wide.q.view(), k.view(), v.view());
    const auto plain = reference_forward<float>(p.tiles, p.shape, p.mask, wide.q.view(), k.view(), v.view());
    Tensor out(p.q_rows, 2, 32), lse(p.q_rows, 2, 1);
    with_isa(isa).forward(p, {wide.q.view(), k.view(), v.view(), out.view(), lse.view()});
    Tolerance tolerance;
    tolerance.note(oracle.out, plain.out);
    expect_close(out.values(), oracle.out, tolerance.allowed(), "out");
  }
}

}  // namespace
}  // namespace counterpoise
