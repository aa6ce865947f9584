// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "attention_cases.h"

// The bound for 16-bit storage: at most twice the error of an exact softmax whose weights and output are
// rounded to the type, and what plain float32 arithmetic may err.
namespace counterpoise::testing_attention {

inline double rounded(double x, DType dtype) {
  const float f = static_cast<float>(x);
  return dtype == DType::kBFloat16 ? bfloat16_to_float(float_to_bfloat16(f))
                                   : float16_to_float(float_to_float16(f));
}

inline double rms(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
  return std::sqrt(sum / static_cast<double>(a.size()));
}

inline double largest_difference(const std::vector<double>& a, const std::vector<double>& b) {
  double largest = 0;
  for (size_t i = 0; i < a.size(); ++i) largest = std::max(largest, std::abs(a[i] - b[i]));
  return largest;
}

// What exact sums make of weights, gradients of weights and an output that are rounded to the type; the
// backward pass takes delta from that output, as training does. Weights are rounded as multiples of 1 /
// magnified.
struct Ideal {
  std::vector<double> out, dq, dk, dv;
};

// The inputs, contiguous and widened.
struct Values {
  std::vector<double> q, k, v, dout;

  explicit Values(const Data& data)
      : q(data.q.values()), k(data.k.values()), v(data.v.values()), dout(data.dout.values()) {}
};

inline double dot(const double* a, const double* b, int64_t count) {
  double sum = 0;
  for (int64_t i = 0; i < count; ++i) sum += a[i] * b[i];
  return sum;
}

// Calls visit(i, j, p, dp) for every visible pair: i counts (row, head) of the queries, j (row, head) of the
// keys.
template <typename F>
void each_pair(const Problem& p, const Values& data, const ReferenceOutput<double>& oracle, F visit) {
  const int64_t group = p.shape.heads / p.shape.kv_heads, d = p.shape.head_dim, dv = p.shape.value_dim();
  for (const AttentionTile& tile : p.tiles)
    for (int64_t row = 0; row < tile.q.size(); ++row)
      for (int64_t head = tile.heads.begin; head < tile.heads.end; ++head)
        for (int64_t key = 0; key < tile.kv.size(); ++key) {
          if (!p.mask.visible(tile.q.begin + row, tile.kv.begin + key)) continue;
          const int64_t i = (tile.q_row + row) * p.shape.heads + head,
                        j = (tile.kv_row + key) * p.shape.kv_heads + head / group;
          const double s = dot(&data.q[i * d], &data.k[j * d], d);
          visit(i, j, std::exp(s * p.shape.scale() - oracle.lse[i]),
                dot(&data.dout[i * dv], &data.v[j * dv], dv));
        }
}

inline Ideal ideal(const Problem& p, const Data& inputs, const ReferenceOutput<double>& oracle,
                   double magnified = 1) {
  const int64_t d = p.shape.head_dim, dv = p.shape.value_dim();
  const Values data(inputs);
  Ideal r{std::vector<double>(oracle.out.size()), std::vector<double>(data.q.size()),
          std::vector<double>(data.k.size()), std::vector<double>(data.v.size())};
  each_pair(p, data, oracle, [&](int64_t i, int64_t j, double weight, double) {
    const double w = rounded(weight * magnified, p.dtype) / magnified;
    for (int64_t c = 0; c < dv; ++c) {
      r.out[i * dv + c] += w * data.v[j * dv + c];
      r.dv[j * dv + c] += w * data.dout[i * dv + c];
    }
  });
  for (double& x : r.out) x = rounded(x, p.dtype);
  std::vector<double> delta;
  for (size_t i = 0; i < oracle.lse.size(); ++i) delta.push_back(dot(&r.out[i * dv], &data.dout[i * dv], dv));
  each_pair(p, data, oracle, [&](int64_t i, int64_t j, double weight, double dp) {
    const double ds = rounded(weight * (dp - delta[i]) * magnified, p.dtype) / magnified * p.shape.scale();
    for (int64_t c = 0; c < d; ++c) {
      r.dq[i * d + c] += ds * data.k[j * d + c];
      r.dk[j * d + c] += ds * data.q[i * d + c];
    }
  });
  return r;
}

// Errors of the ideal computation, the worst of several.
struct IdealErrors {
  double rms = 0, largest = 0;

  void note(const std::vector<double>& ideal_values, const std::vector<double>& oracle) {
    rms = std::max(rms, testing_attention::rms(ideal_values, oracle));
    largest = std::max(largest, largest_difference(ideal_values, oracle));
  }
};

// rms and largest error; float32 allows for sums and softmax in float32 (Tolerance).
inline void expect_within_twice(const std::vector<double>& actual, const IdealErrors& bound,
                                const std::vector<double>& oracle, double float32, const char* name) {
  EXPECT_LE(rms(actual, oracle), 2 * bound.rms + float32) << name << " rms";
  EXPECT_LE(largest_difference(actual, oracle), 2 * bound.largest + float32) << name << " largest";
}

struct HalfTolerance {
  Tolerance out, lse, dq, dk, dv;
};

// What float32 storage would be allowed.
inline HalfTolerance float32_tolerance(const Problem& p, const Data& data,
                                       const ReferenceOutput<double>& oracle,
                                       const ReferenceGradients<double>& gradients) {
  const auto v = data.v.view(), dout = data.dout.view();
  HalfTolerance t;
  for (int order = 0; order < plain_orders(p); ++order) {
    const int64_t by = order * 13, d = p.shape.head_dim;
    const Tensor q = rotated(data.q, by), k = rotated(data.k, by);
    const auto plain = reference_forward<float>(p.tiles, p.shape, p.mask, q.view(), k.view(), v);
    const auto back = reference_backward<float>(p.tiles, p.shape, p.mask, q.view(), k.view(), v, dout, plain);
    t.out.note(oracle.out, plain.out);
    t.lse.note(oracle.lse, plain.lse);
    t.dq.note(gradients.dq, rotated_back(back.dq, d, by), gradients.largest_dq_term);
    t.dk.note(gradients.dk, rotated_back(back.dk, d, by), gradients.largest_dk_term);
    t.dv.note(gradients.dv, back.dv, gradients.largest_dv_term);
  }
  return t;
}

// Forward and backward as training does it: the backward pass reads the output as it was stored. `exp_error`
// is the relative error of the runner's exponential, which lse shows. Where few elements carry the error of a
// tensor one rounding of the weights may be lucky; `roundings` of the ideal computation then bound it.
inline void expect_half_matches(const Problem& p, const Data& data, const Runner& runner,
                                double exp_error = 0, int roundings = 1) {
  const auto q = data.q.view(), k = data.k.view(), v = data.v.view(), dout = data.dout.view();
  const auto oracle = reference_forward<double>(p.tiles, p.shape, p.mask, q, k, v);
  const auto gradients = reference_backward<double>(p.tiles, p.shape, p.mask, q, k, v, dout, oracle);
  IdealErrors out, dq, dk, dv;
  for (int i = 0; i < roundings; ++i) {
    const Ideal values = ideal(p, data, oracle, std::exp2(static_cast<double>(i) / roundings));
    out.note(values.out, oracle.out);
    dq.note(values.dq, gradients.dq);
    dk.note(values.dk, gradients.dk);
    dv.note(values.dv, gradients.dv);
  }
  const HalfTolerance float32 = float32_tolerance(p, data, oracle, gradients);
  const ForwardResult forward = run_forward(p, data, runner, p.dtype);
  expect_within_twice(forward.out.values(), out, oracle.out, float32.out.allowed(), "out");
  expect_close(forward.lse.values(), oracle.lse, float32.lse.allowed() + exp_error, "lse");
  const Tensor delta = delta_of(data, forward);
  const Tensor* const delta_or_out[] = {nullptr, &delta};
  for (const Tensor* given : delta_or_out) {
    SCOPED_TRACE(given ? "from delta" : "from out");
    const GradientResult back = run_backward(p, data, forward, runner, 0, given);
    expect_within_twice(back.dq.values(), dq, gradients.dq, float32.dq.allowed(), "dq");
    expect_within_twice(back.dk.values(), dk, gradients.dk, float32.dk.allowed(), "dk");
    expect_within_twice(back.dv.values(), dv, gradients.dv, float32.dv.allowed(), "dv");
  }
}

}  // namespace counterpoise::testing_attention
