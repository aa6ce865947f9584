// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <vector>

#include "exec/attention_kernel.h"

namespace counterpoise {

enum Result { kResultOut, kResultLse, kResultDq, kResultDk, kResultDv, kResults };

// One document by itself: inputs made from the random source, results as one rank computes them.
// All tensors are contiguous [length][heads or kv_heads][dim].
struct WholeDocument {
  WholeDocument(const AttentionShape& shape, const RandomSource& source, int32_t document, int64_t length);

  const AttentionShape& shape;
  int64_t length;
  std::vector<float> q, k, v, dout;
};

// What results should be, and how far a float32 computation may be from it.
struct Expectation {
  std::array<std::vector<double>, kResults> values;
  std::array<double, kResults> plain_error{};  // the largest that plain float32 attention makes
  std::array<double, kResults> largest{};      // magnitude that entered
};

Expectation expect_oracle(const WholeDocument& document, bool backward);
Expectation expect_single(const WholeDocument& document, bool backward, const KernelOptions& options);

}  // namespace counterpoise
