// SPDX-License-Identifier: Apache-2.0
// The oracle against sums done by hand, and against finite differences.
#include "attention_cases.h"

namespace counterpoise {
namespace {

using namespace testing_attention;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST(AttentionReference, TwoTokensByHand) {
  const float q[] = {1, 2}, k[] = {1, 3}, v[] = {10, 20};
  const HeadShape shape{1, 1, 1, 0, 1.0};
  const std::vector<int64_t> offsets{0, 2};
  const auto result =
      reference_forward<double>(tiles_of_documents(offsets, 1), shape, Mask::causal(),
                                packed_view(q, 2, 1, 1), packed_view(k, 2, 1, 1), packed_view(v, 2, 1, 1));
  // Row 0 sees key 0 only; row 1 has logits 2 and 6.
  EXPECT_DOUBLE_EQ(result.out[0], 10);
  EXPECT_DOUBLE_EQ(result.lse[0], 1);
  EXPECT_NEAR(result.out[1], (10 * std::exp(2.0) + 20 * std::exp(6.0)) / (std::exp(2.0) + std::exp(6.0)),
              1e-12);
  EXPECT_NEAR(result.lse[1], std::log(std::exp(2.0) + std::exp(6.0)), 1e-12);
}

TEST(AttentionReference, RowWithoutKeysIsTheIdentity) {
  const float q[] = {1}, k[] = {1}, v[] = {10};
  const std::vector<AttentionTile> tiles{{{5, 6}, {6, 7}, {0, 1}, 0, 0}};  // the key lies after the query
  const auto result = reference_forward<double>(tiles, {1, 1, 1}, Mask::causal(), packed_view(q, 1, 1, 1),
                                                packed_view(k, 1, 1, 1), packed_view(v, 1, 1, 1));
  EXPECT_EQ(result.out[0], 0);
  EXPECT_EQ(result.lse[0], -kInfinity);
}

TEST(AttentionReference, GradientsAreFiniteDifferences) {
  constexpr uint64_t kSeed = 5;
  SCOPED_TRACE(::testing::Message() << "seed " << kSeed);
  RandomStream random(kSeed);
  Problem p = document_problem(5, {2, 1, 3, 2}, Mask::causal());
  Data data(p, random);
  const auto q = data.q.view(), k = data.k.view(), v = data.v.view(), dout = data.dout.view();
  auto loss = [&] {
    const auto result = reference_forward<double>(p.tiles, p.shape, p.mask, q, k, v);
    const std::vector<double> weights = data.dout.values();
    double sum = 0;
    for (size_t i = 0; i < weights.size(); ++i) sum += weights[i] * result.out[i];
    return sum;
  };
  const auto gradients = reference_backward<double>(
      p.tiles, p.shape, p.mask, q, k, v, dout, reference_forward<double>(p.tiles, p.shape, p.mask, q, k, v));
  auto expect_gradient = [&](Tensor& t, const std::vector<double>& expected) {
    size_t i = 0;
    for (int64_t token = 0; token < t.view().tokens; ++token)
      for (int64_t head = 0; head < t.view().heads; ++head)
        for (int64_t c = 0; c < t.view().dim; ++c) {
          const float x = t.get(token, head, c), up = x + 0x1p-8f, down = x - 0x1p-8f;
          t.set(token, head, c, up);
          const double above = loss();
          t.set(token, head, c, down);
          const double below = loss();
          t.set(token, head, c, x);
          EXPECT_NEAR((above - below) / (double{up} - down), expected[i], 1e-4) << "element " << i;
          ++i;
        }
  };
  expect_gradient(data.q, gradients.dq);
  expect_gradient(data.k, gradients.dk);
  expect_gradient(data.v, gradients.dv);
}

}  // namespace
}  // namespace counterpoise
