// SPDX-License-Identifier: Apache-2.0
// bfloat16 and float16 storage: against the oracle on the same stored values, with at most twice the error of
// an exact softmax whose weights and output are rounded to the type.
#include "attention_cases.h"

namespace counterpoise {
namespace {

using namespace testing_attention;

constexpr uint64_t kSeed = 41;

double rounded(double x, DType dtype) {
  const float f = static_cast<float>(x);
  return dtype == DType::kBFloat16 ? bfloat16_to_float(float_to_bfloat16(f))
                                   : float16_to_float(float_to_float16(f));
}

double rms(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
  return std::sqrt(sum / static_cast<double>(a.size()));
}

double largest_difference(const std::vector<double>& a, const std::vector<double>& b) {
  double largest = 0;
  for (size_t i = 0; i < a.size(); ++i) largest = std::max(largest, std::abs(a[i] - b[i]));
  return largest;
}

// What exact sums make of weights, gradients of weights and an output that are rounded to the type; the
// backward pass takes delta from that output, as training does.
struct Ideal {
  std::vector<double> out, dq, dk, dv;
};

// Calls visit(row, head, key, kv_head, p, dp) for every visible pair.
template <typename F>
void each_pair(const Problem& p, const Data& data, const ReferenceOutput<double>& oracle, F visit) {
  const int64_t group = p.shape.heads / p.shape.kv_heads;
  for (const AttentionTile& tile : p.tiles)
    for (int64_t i = 0; i < tile.q.size(); ++i)
      for (int64_t head = tile.heads.begin; head < tile.heads.end; ++head)
        for (int64_t j = 0; j < tile.kv.size(); ++j) {
          if (!p.mask.visible(tile.q.begin + i, tile.kv.begin + j)) continue;
          const int64_t row = tile.q_row + i, key = tile.kv_row + j;
          double s = 0, dp = 0;
          for (int64_t c = 0; c < p.shape.head_dim; ++c)
            s += double{data.q.get(row, head, c)} * data.k.get(key, head / group, c);
          for (int64_t c = 0; c < p.shape.value_dim(); ++c)
            dp += double{data.dout.get(row, head, c)} * data.v.get(key, head / group, c);
          visit(row, head, key, head / group,
                std::exp(s * p.shape.scale() - oracle.lse[row * p.shape.heads + head]), dp);
        }
}

Ideal ideal(const Problem& p, const Data& data, const ReferenceOutput<double>& oracle) {
  const int64_t d = p.shape.head_dim, dv = p.shape.value_dim(), heads = p.shape.heads,
                kv_heads = p.shape.kv_heads;
  Ideal r{std::vector<double>(oracle.out.size()), std::vector<double>(p.q_rows * heads * d),
          std::vector<double>(p.kv_rows * kv_heads * d), std::vector<double>(p.kv_rows * kv_heads * dv)};
  each_pair(
      p, data, oracle, [&](int64_t row, int64_t head, int64_t key, int64_t kv_head, double weight, double) {
        for (int64_t c = 0; c < dv; ++c) {
          r.out[(row * heads + head) * dv + c] += rounded(weight, p.dtype) * data.v.get(key, kv_head, c);
          r.dv[(key * kv_heads + kv_head) * dv + c] += rounded(weight, p.dtype) * data.dout.get(row, head, c);
        }
      });
  std::vector<double> delta(p.q_rows * heads);
  for (size_t i = 0; i < r.out.size(); ++i) {
    const int64_t at = static_cast<int64_t>(i) / dv;
    r.out[i] = rounded(r.out[i], p.dtype);
    delta[at] += r.out[i] * data.dout.get(at / heads, at % heads, static_cast<int64_t>(i) % dv);
  }
  each_pair(p, data, oracle,
            [&](int64_t row, int64_t head, int64_t key, int64_t kv_head, double weight, double dp) {
              const double ds = rounded(weight * (dp - delta[row * heads + head]), p.dtype) * p.shape.scale();
              for (int64_t c = 0; c < d; ++c) {
                r.dq[(row * heads + head) * d + c] += ds * data.k.get(key, kv_head, c);
                r.dk[(key * kv_heads + kv_head) * d + c] += ds * data.q.get(row, head, c);
              }
            });
  return r;
}

void expect_within_twice(const std::vector<double>& actual, const std::vector<double>& ideal_values,
                         const std::vector<double>& oracle, const char* name) {
  EXPECT_LE(rms(actual, oracle), 2 * rms(ideal_values, oracle)) << name << " rms";
  EXPECT_LE(largest_difference(actual, oracle), 2 * largest_difference(ideal_values, oracle))
      << name << " largest";
}

void check(const Problem& p, const Data& data, Isa isa) {
  const auto q = data.q.view(), k = data.k.view(), v = data.v.view(), dout = data.dout.view();
  const auto oracle = reference_forward<double>(p.tiles, p.shape, p.mask, q, k, v);
  const auto gradients = reference_backward<double>(p.tiles, p.shape, p.mask, q, k, v, dout, oracle);
  const Ideal bound = ideal(p, data, oracle);
  ForwardResult forward{Tensor(p.q_rows, p.shape.heads, p.shape.value_dim(), p.dtype, p.layout),
                        Tensor(p.q_rows, p.shape.heads, 1)};
  with_isa(isa).forward(p, {q, k, v, forward.out.view(), forward.lse.view()});
  expect_within_twice(forward.out.values(), bound.out, oracle.out, "out");
  // As training does: the backward pass reads the output as it was stored.
  const GradientResult back = run_backward(p, data, forward, with_isa(isa));
  expect_within_twice(back.dq.values(), bound.dq, gradients.dq, "dq");
  expect_within_twice(back.dk.values(), bound.dk, gradients.dk, "dk");
  expect_within_twice(back.dv.values(), bound.dv, gradients.dv, "dv");
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
          check(p, Data(p, random), isa);
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
    check(p, Data(p, random), isa);
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
