// SPDX-License-Identifier: Apache-2.0
#include "exec/whole_document.h"

#include <algorithm>
#include <cmath>

#include "kernels/reference/reference.h"

namespace counterpoise {
namespace {

constexpr int64_t kSamples = 16;  // rows and columns per document

HeadShape head_shape(const AttentionShape& s) {
  return {s.heads, s.kv_heads, s.head_dim, s.v_head_dim, 0};
}

ConstTensorView view(const std::vector<float>& data, int64_t tokens, int64_t heads, int64_t dim) {
  return packed_view(data.data(), tokens, heads, dim);
}

struct Inputs {
  ConstTensorView q, k, v, dout;
  explicit Inputs(const WholeDocument& d)
      : q(view(d.q, d.length, d.shape.heads, d.shape.head_dim)),
        k(view(d.k, d.length, d.shape.kv_heads, d.shape.head_dim)),
        v(view(d.v, d.length, d.shape.kv_heads, d.shape.v_head_dim)),
        dout(view(d.dout, d.length, d.shape.heads, d.shape.v_head_dim)) {}
};

template <typename A, typename B>
double largest_difference(const std::vector<A>& a, const std::vector<B>& b) {
  double largest = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    if (!std::isfinite(static_cast<double>(a[i]))) continue;
    largest = std::max(largest, std::abs(static_cast<double>(a[i]) - static_cast<double>(b[i])));
  }
  return largest;
}

template <typename T>
double largest_magnitude(const std::vector<T>& values) {
  double largest = 0;
  for (const T value : values) {
    if (std::isfinite(static_cast<double>(value)))
      largest = std::max(largest, std::abs(static_cast<double>(value)));
  }
  return largest;
}

// How far plain float32 is from fp64 on these tiles; both start the backward pass from `output`, or from
// their own forward results where it is null.
struct PlainErrors {
  ReferenceOutput<double> output;
  ReferenceGradients<double> gradients;
  std::array<double, kResults> error{}, largest{};

  PlainErrors(std::span<const AttentionTile> tiles, const WholeDocument& document, bool backward,
              const ReferenceOutput<float>* whole) {
    const Inputs in(document);
    const HeadShape shape = head_shape(document.shape);
    const Mask mask = document.shape.mask;
    output = reference_forward<double>(tiles, shape, mask, in.q, in.k, in.v);
    const auto plain = reference_forward<float>(tiles, shape, mask, in.q, in.k, in.v);
    error[kResultOut] = largest_difference(output.out, plain.out);
    error[kResultLse] = largest_difference(output.lse, plain.lse);
    largest[kResultOut] = largest_magnitude(output.out);
    largest[kResultLse] = largest_magnitude(output.lse);
    if (!backward) return;
    if (whole != nullptr)
      output = {{whole->out.begin(), whole->out.end()}, {whole->lse.begin(), whole->lse.end()}};
    gradients = reference_backward<double>(tiles, shape, mask, in.q, in.k, in.v, in.dout, output);
    const auto narrow =
        reference_backward<float>(tiles, shape, mask, in.q, in.k, in.v, in.dout, whole ? *whole : plain);
    error[kResultDq] = largest_difference(gradients.dq, narrow.dq);
    error[kResultDk] = largest_difference(gradients.dk, narrow.dk);
    error[kResultDv] = largest_difference(gradients.dv, narrow.dv);
    largest[kResultDq] = gradients.largest_dq_term;
    largest[kResultDk] = gradients.largest_dk_term;
    largest[kResultDv] = gradients.largest_dv_term;
  }
};

AttentionTile whole_tile(const WholeDocument& d) {
  return {{0, d.length}, {0, d.length}, {0, d.shape.heads}, 0, 0};
}

// Positions spread over the document, both ends included.
std::vector<int64_t> sample(int64_t length) {
  std::vector<int64_t> positions;
  const int64_t count = std::min(length, kSamples);
  for (int64_t i = 0; i < count; ++i) positions.push_back(count == 1 ? 0 : i * (length - 1) / (count - 1));
  return positions;
}

void keep_larger(Expectation& expectation, const PlainErrors& plain, std::initializer_list<Result> results) {
  for (const Result r : results) {
    expectation.plain_error[r] = std::max(expectation.plain_error[r], plain.error[r]);
    expectation.largest[r] = std::max(expectation.largest[r], plain.largest[r]);
  }
}

}  // namespace

WholeDocument::WholeDocument(const AttentionShape& s, const RandomSource& source, int32_t document,
                             int64_t length_)
    : shape(s), length(length_) {
  const auto make = [&](RandomTensor tensor, int32_t heads, int64_t dim) {
    std::vector<float> data(static_cast<size_t>(length * heads * dim));
    for (int64_t position = 0; position < length; ++position) {
      for (int32_t head = 0; head < heads; ++head) {
        source.fill(tensor, document, position, head, dim,
                    &data[static_cast<size_t>((position * heads + head) * dim)]);
      }
    }
    return data;
  };
  q = make(RandomTensor::kQ, s.heads, s.head_dim);
  k = make(RandomTensor::kK, s.kv_heads, s.head_dim);
  v = make(RandomTensor::kV, s.kv_heads, s.v_head_dim);
  dout = make(RandomTensor::kDout, s.heads, s.v_head_dim);
}

Expectation expect_oracle(const WholeDocument& document, bool backward) {
  const AttentionTile tile = whole_tile(document);
  PlainErrors plain({&tile, 1}, document, backward, nullptr);
  return {{std::move(plain.output.out), std::move(plain.output.lse), std::move(plain.gradients.dq),
           std::move(plain.gradients.dk), std::move(plain.gradients.dv)},
          plain.error,
          plain.largest};
}

Expectation expect_single(const WholeDocument& document, bool backward, const KernelOptions& options) {
  const AttentionShape& s = document.shape;
  const int64_t length = document.length;
  const AttentionTile tile = whole_tile(document);
  const Inputs in(document);
  const auto zeros = [&](int64_t heads, int64_t dim) {
    return std::vector<float>(static_cast<size_t>(length * heads * dim));
  };
  AttentionOptions how;
  how.isa = options.isa;
  how.threads = options.threads;

  ReferenceOutput<float> output{zeros(s.heads, s.v_head_dim), zeros(s.heads, 1)};
  const TensorView out = packed_view(output.out.data(), length, s.heads, s.v_head_dim);
  const TensorView lse = packed_view(output.lse.data(), length, s.heads, 1);
  attention_forward({&tile, 1}, head_shape(s), s.mask, {in.q, in.k, in.v, out, lse}, how);

  Expectation expectation;
  const auto widened = [](const std::vector<float>& values) {
    return std::vector<double>(values.begin(), values.end());
  };
  expectation.values[kResultOut] = widened(output.out);
  expectation.values[kResultLse] = widened(output.lse);
  if (backward) {
    std::vector<float> dq = zeros(s.heads, s.head_dim), dk = zeros(s.kv_heads, s.head_dim),
                       dv = zeros(s.kv_heads, s.v_head_dim);
    attention_backward(
        {&tile, 1}, head_shape(s), s.mask,
        {in.q, in.k, in.v, out, lse, in.dout, packed_view(dq.data(), length, s.heads, s.head_dim),
         packed_view(dk.data(), length, s.kv_heads, s.head_dim),
         packed_view(dv.data(), length, s.kv_heads, s.v_head_dim)},
        how);
    expectation.values[kResultDq] = widened(dq);
    expectation.values[kResultDk] = widened(dk);
    expectation.values[kResultDv] = widened(dv);
  }

  std::vector<AttentionTile> rows, columns;
  for (const int64_t at : sample(length)) {
    rows.push_back({{at, at + 1}, {0, length}, {0, s.heads}, at, 0});
    columns.push_back({{0, length}, {at, at + 1}, {0, s.heads}, 0, at});
  }
  keep_larger(expectation, PlainErrors(rows, document, backward, nullptr),
              {kResultOut, kResultLse, kResultDq});
  if (backward)
    keep_larger(expectation, PlainErrors(columns, document, true, &output), {kResultDk, kResultDv});
  return expectation;
}

}  // namespace counterpoise
