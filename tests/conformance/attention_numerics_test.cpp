// SPDX-License-Identifier: Apache-2.0
// Infinities, NaN, denormals and concentrated rows behave as in the oracle, on every instruction set.
#include "attention_cases.h"

namespace counterpoise {
namespace {

using namespace testing_attention;

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr uint64_t kSeed = 31;

template <typename F>
void each_isa(F check) {
  for (const Isa isa : available_isas()) {
    SCOPED_TRACE(::testing::Message() << isa_name(isa) << " seed " << kSeed);
    RandomStream random(kSeed);
    check(isa, random);
    if (::testing::Test::HasFatalFailure()) return;
  }
}

TEST(AttentionNumerics, NonFiniteInputsReachTheRowsThatSeeThem) {
  each_isa([](Isa isa, RandomStream& random) {
    for (const float poison : {kInfinity, -kInfinity, std::nanf("")}) {
      for (const int64_t position : {0, 5, 63, 130, 199}) {
        for (int tensor = 0; tensor < 4; ++tensor) {
          SCOPED_TRACE(::testing::Message() << poison << " at " << position << " of tensor " << tensor);
          const Problem p = document_problem(200, {2, 2, 16}, Mask::causal());
          Data data(p, random);
          Tensor* tensors[] = {&data.q, &data.k, &data.v, &data.dout};
          tensors[tensor]->set(position, 1, 3, poison);
          expect_reach(p, data, with_isa(isa), 1e-3);
          if (::testing::Test::HasFatalFailure()) return;
        }
      }
    }
  });
}

// All logits -inf: the row is as if it saw nothing. One +inf: NaN.
TEST(AttentionNumerics, InfiniteLogits) {
  each_isa([](Isa isa, RandomStream& random) {
    const Problem p = document_problem(70, {1, 1, 8}, Mask::full());
    Data data(p, random);
    for (int64_t row = 0; row < 70; ++row) data.k.set(row, 0, 0, -kInfinity);
    for (int64_t row = 0; row < 70; ++row) data.q.set(row, 0, 0, row == 9 ? -1.0f : 1.0f);
    const ForwardResult r = run_forward(p, data, with_isa(isa));
    for (int64_t row = 0; row < 70; ++row) {
      if (row == 9) {
        ASSERT_TRUE(std::isnan(r.lse.get(row, 0, 0)));
        continue;
      }
      ASSERT_EQ(r.lse.get(row, 0, 0), -kInfinity);
      ASSERT_EQ(r.out.get(row, 0, 3), 0);
    }
  });
}

TEST(AttentionNumerics, DenormalsAndTinyScales) {
  each_isa([](Isa isa, RandomStream& random) {
    Problem p = document_problem(100, {1, 1, 32}, Mask::causal());
    Data data(p, random);
    for (Tensor* t : {&data.q, &data.k, &data.v, &data.dout}) t->each([](float& x) { x *= 0x1p-140f; });
    expect_forward_matches(p, data, with_isa(isa));
    expect_backward_matches(p, data, with_isa(isa));
  });
}

// One dominant key per row, at every place of a block; its weight is 1 and the others vanish.
TEST(AttentionNumerics, ConcentratedRows) {
  each_isa([](Isa isa, RandomStream& random) {
    for (const int64_t dominant : {0, 1, 3, 4, 95, 96, 127, 128, 140, 259}) {
      SCOPED_TRACE(::testing::Message() << "dominant key " << dominant);
      Problem p = document_problem(260, {1, 1, 16}, Mask::full());
      Data data(p, random);
      for (int64_t i = 0; i < 16; ++i) data.k.set(dominant, 0, i, 0);
      data.k.set(dominant, 0, 0, 200);
      for (int64_t row = 0; row < p.q_rows; ++row) data.q.set(row, 0, 0, 3 + static_cast<float>(row % 5));
      expect_forward_matches(p, data, with_isa(isa));
      expect_backward_matches(p, data, with_isa(isa));
      if (::testing::Test::HasFatalFailure()) return;
    }
  });
}

// The running maximum rises in every block: each rescale is a step of e^1000 and more.
TEST(AttentionNumerics, RisingAndFallingMaxima) {
  each_isa([](Isa isa, RandomStream& random) {
    for (const float slope : {30.0f, -30.0f}) {
      Problem p = document_problem(400, {1, 1, 8}, Mask::full());
      Data data(p, random);
      for (int64_t row = 0; row < 400; ++row) {
        data.k.set(row, 0, 0, slope * static_cast<float>(row));
        data.q.set(row, 0, 0, 1);
      }
      p.logit_scale = 12000;
      expect_forward_matches(p, data, with_isa(isa));
      expect_backward_matches(p, data, with_isa(isa));
    }
  });
}

}  // namespace
}  // namespace counterpoise
