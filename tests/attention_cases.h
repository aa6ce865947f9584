// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "counterpoise/attention.h"
#include "counterpoise/random.h"
#include "kernels/dtype.h"
#include "kernels/reference/reference.h"

// Attention problems with their data, and the comparison with the oracle that every test of the kernels uses.
namespace counterpoise::testing_attention {

// How a tensor lies in memory: padding after every head and token, and a start off any vector boundary.
struct Layout {
  int64_t head_padding = 0;
  int64_t token_padding = 0;
  int64_t start = 0;
};

// Owns a tensor of any type and layout. Gaps hold NaN, so that reading one shows.
class Tensor {
 public:
  Tensor(int64_t tokens, int64_t heads, int64_t dim, DType dtype = DType::kFloat32, Layout layout = {})
      : bytes_(static_cast<size_t>(
            (tokens * heads * (dim + layout.head_padding) + tokens * layout.token_padding + layout.start) *
            dtype_bytes(dtype))) {
    std::memset(bytes_.data(), 0xff, bytes_.size());  // NaN in all three types
    start_ = layout.start * dtype_bytes(dtype);
    view_ = {bytes_.data() + start_,
             dtype,
             tokens,
             heads,
             dim,
             heads * (dim + layout.head_padding) + layout.token_padding,
             dim + layout.head_padding};
  }

  Tensor(const Tensor& other) : bytes_(other.bytes_), view_(other.view_), start_(other.start_) {
    view_.data = bytes_.data() + start_;
  }
  Tensor& operator=(const Tensor&) = delete;

  TensorView view() { return view_; }
  ConstTensorView view() const { return view_; }

  float get(int64_t token, int64_t head, int64_t i) const {
    float value;
    load_row(element(token, head, i), view_.dtype, 1, &value);
    return value;
  }
  void set(int64_t token, int64_t head, int64_t i, float value) {
    store_row(&value, 1, element(token, head, i), view_.dtype);
  }
  void fill(float value) {
    each([&](float& x) { x = value; });
  }
  void randomise(RandomStream& random, double scale) {
    each([&](float& x) { x = static_cast<float>(random.normal() * scale); });
  }
  template <typename F>
  void each(F change) {
    for (int64_t t = 0; t < view_.tokens; ++t)
      for (int64_t h = 0; h < view_.heads; ++h)
        for (int64_t i = 0; i < view_.dim; ++i) {
          float x = get(t, h, i);
          change(x);
          set(t, h, i, x);
        }
  }
  // Contiguous [tokens][heads][dim], widened.
  std::vector<double> values() const {
    std::vector<double> result;
    for (int64_t t = 0; t < view_.tokens; ++t)
      for (int64_t h = 0; h < view_.heads; ++h)
        for (int64_t i = 0; i < view_.dim; ++i) result.push_back(get(t, h, i));
    return result;
  }
  const std::vector<unsigned char>& bytes() const { return bytes_; }

 private:
  void* element(int64_t token, int64_t head, int64_t i) const {
    return static_cast<char*>(view_.data) +
           (token * view_.token_stride + head * view_.head_stride + i) * dtype_bytes(view_.dtype);
  }
  std::vector<unsigned char> bytes_;
  TensorView view_;
  int64_t start_ = 0;
};

struct Problem {
  HeadShape shape;
  Mask mask;
  std::vector<AttentionTile> tiles;
  int64_t q_rows = 0, kv_rows = 0;
  double logit_scale = 1;  // standard deviation of a logit is about this
  DType dtype = DType::kFloat32;
  Layout layout = {};
};

struct Data {
  Tensor q, k, v, dout;

  Data(const Problem& p, RandomStream& random)
      : q(p.q_rows, p.shape.heads, p.shape.head_dim, p.dtype, p.layout),
        k(p.kv_rows, p.shape.kv_heads, p.shape.head_dim, p.dtype, p.layout),
        v(p.kv_rows, p.shape.kv_heads, p.shape.value_dim(), p.dtype, p.layout),
        dout(p.q_rows, p.shape.heads, p.shape.value_dim(), p.dtype, p.layout) {
    q.randomise(random, std::sqrt(p.logit_scale));
    k.randomise(random, std::sqrt(p.logit_scale));
    v.randomise(random, 1);
    dout.randomise(random, 1);
  }
};

// Largest error allowed for a tensor: twice what a plain float32 computation makes, and two units in the last
// place of the largest magnitude that entered it.
struct Tolerance {
  double error = 0, largest = 0;

  template <typename Real>
  void note(const std::vector<double>& oracle, const std::vector<Real>& plain, double largest_term = 0) {
    if (std::isfinite(largest_term)) largest = std::max(largest, largest_term);
    for (size_t i = 0; i < oracle.size(); ++i) {
      if (!std::isfinite(oracle[i])) continue;
      error = std::max(error, std::abs(static_cast<double>(plain[i]) - oracle[i]));
      largest = std::max(largest, std::abs(oracle[i]));
    }
  }
  double allowed() const { return 2 * error + 2 * largest * 0x1p-23; }
};

// Moves column i of every row to column (i + by) mod dim: the same logits, summed in another order.
inline Tensor rotated(const Tensor& t, int64_t by) {
  Tensor result = t;
  for (int64_t token = 0; token < t.view().tokens; ++token)
    for (int64_t head = 0; head < t.view().heads; ++head)
      for (int64_t i = 0; i < t.view().dim; ++i)
        result.set(token, head, (i + by) % t.view().dim, t.get(token, head, i));
  return result;
}

inline void expect_close(const std::vector<double>& actual, const std::vector<double>& oracle, double allowed,
                         const char* name) {
  ASSERT_EQ(actual.size(), oracle.size()) << name;
  for (size_t i = 0; i < oracle.size(); ++i) {
    if (std::isfinite(oracle[i])) {
      ASSERT_LE(std::abs(actual[i] - oracle[i]), allowed)
          << name << "[" << i << "] is " << actual[i] << ", the oracle says " << oracle[i];
    } else if (std::isnan(oracle[i])) {
      ASSERT_TRUE(std::isnan(actual[i])) << name << "[" << i << "] is " << actual[i] << ", not NaN";
    } else {
      ASSERT_EQ(actual[i], oracle[i]) << name << "[" << i << "]";
    }
  }
}

// What computes: the public calls with an instruction set, or something a test builds itself.
struct Runner {
  std::function<void(const Problem&, const ForwardTensors&)> forward;
  std::function<void(const Problem&, const BackwardTensors&)> backward;
};

inline Runner with_isa(Isa isa, int threads = 1) {
  const AttentionOptions options{isa, threads, false};
  return {[=](const Problem& p, const ForwardTensors& t) {
            attention_forward(p.tiles, p.shape, p.mask, t, options);
          },
          [=](const Problem& p, const BackwardTensors& t) {
            attention_backward(p.tiles, p.shape, p.mask, t, options);
          }};
}

struct ForwardResult {
  Tensor out, lse;
};

// Outputs start as NaN and the rows in no tile are then set to the identity, as the oracle has them.
inline ForwardResult run_forward(const Problem& p, const Data& data, const Runner& runner,
                                 DType out = DType::kFloat32) {
  ForwardResult r{Tensor(p.q_rows, p.shape.heads, p.shape.value_dim(), out, p.layout),
                  Tensor(p.q_rows, p.shape.heads, 1)};
  runner.forward(p, {data.q.view(), data.k.view(), data.v.view(), r.out.view(), r.lse.view()});
  std::vector<bool> covered(static_cast<size_t>(p.q_rows * p.shape.heads));
  for (const AttentionTile& tile : p.tiles)
    for (int64_t row = tile.q_row; row < tile.q_row + tile.q.size(); ++row)
      for (int64_t head = tile.heads.begin; head < tile.heads.end; ++head)
        covered[row * p.shape.heads + head] = true;
  for (int64_t row = 0; row < p.q_rows; ++row) {
    for (int64_t head = 0; head < p.shape.heads; ++head) {
      if (covered[row * p.shape.heads + head]) continue;
      EXPECT_TRUE(std::isnan(r.lse.get(row, head, 0))) << "row " << row << " is in no tile but was written";
      for (int64_t i = 0; i < p.shape.value_dim(); ++i) r.out.set(row, head, i, 0);
      r.lse.set(row, head, 0, -std::numeric_limits<float>::infinity());
    }
  }
  return r;
}

// A few near ties decide the largest error when logits are large; one order of summation may be lucky there.
inline int plain_orders(const Problem& p) {
  return p.logit_scale > 10 ? 5 : 1;
}

inline void expect_forward_matches(const Problem& p, const Data& data, const Runner& runner) {
  const auto v = data.v.view();
  const auto oracle = reference_forward<double>(p.tiles, p.shape, p.mask, data.q.view(), data.k.view(), v);
  Tolerance out, lse;
  for (int order = 0; order < plain_orders(p); ++order) {
    const Tensor q = rotated(data.q, order * 13), k = rotated(data.k, order * 13);
    const auto plain = reference_forward<float>(p.tiles, p.shape, p.mask, q.view(), k.view(), v);
    out.note(oracle.out, plain.out);
    lse.note(oracle.lse, plain.lse);
  }
  const ForwardResult r = run_forward(p, data, runner);
  expect_close(r.out.values(), oracle.out, out.allowed(), "out");
  expect_close(r.lse.values(), oracle.lse, lse.allowed(), "lse");
}

struct GradientResult {
  Tensor dq, dk, dv;
};

// sum over columns of dout * out, rounded once.
inline Tensor delta_of(const Data& data, const ForwardResult& forward) {
  const ConstTensorView out = forward.out.view();
  Tensor delta(out.tokens, out.heads, 1);
  for (int64_t row = 0; row < out.tokens; ++row)
    for (int64_t head = 0; head < out.heads; ++head) {
      double sum = 0;
      for (int64_t c = 0; c < out.dim; ++c)
        sum += static_cast<double>(forward.out.get(row, head, c)) * data.dout.get(row, head, c);
      delta.set(row, head, 0, static_cast<float>(sum));
    }
  return delta;
}

// Gradients start at `before`, because they are added to what is there. Given `delta`, without an out.
inline GradientResult run_backward(const Problem& p, const Data& data, const ForwardResult& forward,
                                   const Runner& runner, float before = 0, const Tensor* delta = nullptr) {
  GradientResult r{Tensor(p.q_rows, p.shape.heads, p.shape.head_dim, DType::kFloat32, p.layout),
                   Tensor(p.kv_rows, p.shape.kv_heads, p.shape.head_dim, DType::kFloat32, p.layout),
                   Tensor(p.kv_rows, p.shape.kv_heads, p.shape.value_dim(), DType::kFloat32, p.layout)};
  for (Tensor* t : {&r.dq, &r.dk, &r.dv}) t->fill(before);
  BackwardTensors tensors{data.q.view(),      data.k.view(),      data.v.view(),
                          forward.out.view(), forward.lse.view(), data.dout.view(),
                          r.dq.view(),        r.dk.view(),        r.dv.view()};
  if (delta) {
    tensors.out = {};
    tensors.delta = delta->view();
  }
  runner.backward(p, tensors);
  return r;
}

// Undoes rotated() on contiguous rows of dim values.
template <typename Real>
std::vector<Real> rotated_back(const std::vector<Real>& x, int64_t dim, int64_t by) {
  std::vector<Real> result(x.size());
  for (size_t i = 0; i < x.size(); ++i) {
    const int64_t row = static_cast<int64_t>(i) / dim, column = static_cast<int64_t>(i) % dim;
    result[i] = x[row * dim + (column + by) % dim];
  }
  return result;
}

inline void expect_backward_matches(const Problem& p, const Data& data, const Runner& runner,
                                    bool from_delta = false) {
  const auto v = data.v.view(), dout = data.dout.view();
  auto reference = [&]<typename Real>(Real, const Tensor& q, const Tensor& k) {
    const auto forward = reference_forward<Real>(p.tiles, p.shape, p.mask, q.view(), k.view(), v);
    return reference_backward<Real>(p.tiles, p.shape, p.mask, q.view(), k.view(), v, dout, forward);
  };
  const auto oracle = reference(double{}, data.q, data.k);
  Tolerance dq, dk, dv;
  for (int order = 0; order < plain_orders(p); ++order) {
    const int64_t by = order * 13, d = p.shape.head_dim;
    const auto plain = reference(float{}, rotated(data.q, by), rotated(data.k, by));
    dq.note(oracle.dq, rotated_back(plain.dq, d, by), oracle.largest_dq_term);
    dk.note(oracle.dk, rotated_back(plain.dk, d, by), oracle.largest_dk_term);
    dv.note(oracle.dv, plain.dv, oracle.largest_dv_term);
  }
  const ForwardResult forward = run_forward(p, data, runner);
  const Tensor delta = delta_of(data, forward);
  const GradientResult r = run_backward(p, data, forward, runner, 0, from_delta ? &delta : nullptr);
  expect_close(r.dq.values(), oracle.dq, dq.allowed(), "dq");
  expect_close(r.dk.values(), oracle.dk, dk.allowed(), "dk");
  expect_close(r.dv.values(), oracle.dv, dv.allowed(), "dv");
}

// A value at one position of a document must reach exactly the rows that see it: the others are finite, and
// within `allowed` of the oracle.
inline void expect_reach(const Problem& p, const Data& data, const Runner& runner, double allowed) {
  const auto q = data.q.view(), k = data.k.view(), v = data.v.view(), dout = data.dout.view();
  const auto oracle = reference_forward<double>(p.tiles, p.shape, p.mask, q, k, v);
  const auto gradients = reference_backward<double>(p.tiles, p.shape, p.mask, q, k, v, dout, oracle);
  auto expect_same_kind = [&](const Tensor& tensor, const std::vector<double>& expected, const char* name) {
    const std::vector<double> actual = tensor.values();
    for (size_t i = 0; i < actual.size(); ++i) {
      ASSERT_EQ(std::isfinite(actual[i]), std::isfinite(expected[i]))
          << name << "[" << i << "] is " << actual[i] << ", the oracle says " << expected[i];
      if (std::isfinite(expected[i])) {
        ASSERT_NEAR(actual[i], expected[i], allowed) << name << "[" << i << "]";
      }
    }
  };
  const ForwardResult forward = run_forward(p, data, runner);
  expect_same_kind(forward.out, oracle.out, "out");
  expect_same_kind(forward.lse, oracle.lse, "lse");
  const Tensor delta = delta_of(data, forward);
  for (const Tensor* given : {static_cast<const Tensor*>(nullptr), &delta}) {
    const GradientResult back = run_backward(p, data, forward, runner, 0, given);
    expect_same_kind(back.dq, gradients.dq, "dq");
    expect_same_kind(back.dk, gradients.dk, "dk");
    expect_same_kind(back.dv, gradients.dv, "dv");
  }
}

// Documents of n tokens each attending to itself: one, or enough for 64 rows, so that the largest rounding
// error of the plain computation is not small by mere chance.
inline Problem document_problem(int64_t n, HeadShape shape, Mask mask) {
  Problem p{shape, mask, {}, 0, 0};
  std::vector<int64_t> offsets{0};
  do offsets.push_back(offsets.back() + n);
  while (offsets.back() < 64);
  p.tiles = tiles_of_documents(offsets, shape.heads);
  p.q_rows = p.kv_rows = offsets.back();
  return p;
}

// Documents of any length laid end to end, causal and full.
inline std::vector<Problem> packed_documents() {
  const std::vector<int64_t> offsets{0, 1, 2, 33, 33, 133, 140, 300};
  Problem causal = document_problem(300, {2, 1, 32}, Mask::causal());
  causal.tiles = tiles_of_documents(offsets, 2);
  Problem full = causal;
  full.mask = Mask::full();
  return {causal, full};
}

// Rows in the middle of a document against all keys before them, stored anywhere, at positions beyond 2^31
// too.
inline std::vector<Problem> shards_of_a_document() {
  std::vector<Problem> problems;
  for (const int64_t base : {int64_t{0}, int64_t{1} << 33}) {
    Problem p{{2, 2, 32}, Mask::causal(), {}, 60, 260};
    p.tiles = {{{base + 100, base + 130}, {base, base + 200}, {0, 2}, 10, 40},
               {{base + 13, base + 20}, {base, base + 30}, {0, 2}, 0, 0},
               {{base + 170, base + 180}, {base, base + 180}, {0, 1}, 45, 40}};
    problems.push_back(p);
    p.mask = Mask::sliding_window(25);
    problems.push_back(p);
  }
  return problems;
}

// Tiles that share their q rows: keys add up as if they were one tile. Some lie wholly under the mask.
inline Problem several_tiles_per_row() {
  Problem p{{2, 1, 32}, Mask::causal(), {}, 100, 150};
  p.tiles = {{{50, 150}, {0, 40}, {0, 2}, 0, 0},
             {{50, 150}, {60, 150}, {0, 2}, 0, 60},
             {{80, 120}, {40, 60}, {0, 2}, 30, 40},
             {{60, 90}, {140, 150}, {1, 2}, 10, 140}};
  return p;
}

inline Problem empty_tiles_and_rows_without_keys() {
  Problem p{{1, 1, 32}, Mask::causal(), {}, 40, 40};
  p.tiles = {{{0, 0}, {0, 10}, {0, 1}, 0, 0},
             {{5, 9}, {0, 0}, {0, 1}, 3, 0},
             {{10, 30}, {20, 40}, {0, 1}, 10, 0},  // positions 10..19 see no key
             {{3, 6}, {0, 6}, {0, 0}, 35, 0}};
  return p;
}

inline std::string describe(const Problem& p) {
  std::string text = fmt::format("heads {}/{} dim {}/{} mask {},{} logits {} {} tiles", p.shape.heads,
                                 p.shape.kv_heads, p.shape.head_dim, p.shape.value_dim(), p.mask.left,
                                 p.mask.right, p.logit_scale, dtype_name(p.dtype));
  for (const AttentionTile& t : std::span(p.tiles).first(std::min<size_t>(p.tiles.size(), 4)))
    text += fmt::format(" q[{},{})@{} kv[{},{})@{} h[{},{})", t.q.begin, t.q.end, t.q_row, t.kv.begin,
                        t.kv.end, t.kv_row, t.heads.begin, t.heads.end);
  return text;
}

}  // namespace counterpoise::testing_attention
