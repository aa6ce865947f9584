// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <vector>

#include "counterpoise/plan.h"

// Whole attention in double precision, plain loops: what every plan must give.
namespace counterpoise::testing_plan {

inline double dot(const double* a, const double* b, int64_t n) {
  double sum = 0;
  for (int64_t i = 0; i < n; ++i) sum += a[i] * b[i];
  return sum;
}

// y += factor * x
inline void add(double* y, const double* x, double factor, int64_t n) {
  for (int64_t i = 0; i < n; ++i) y[i] += factor * x[i];
}

// Rows of one document for one head: the tensors of whole attention, [position * heads + head][dim].
struct WholeDocument {
  int64_t length = 0;
  std::vector<double> q, k, v, dout;
  std::vector<double> out, lse, delta, dq, dk, dv;
};

// Random q, k, v, dout, and everything that follows from them by whole attention.
std::vector<WholeDocument> whole_attention(const std::vector<PlanDocument>& documents,
                                           const AttentionShape& shape, uint64_t seed);

}  // namespace counterpoise::testing_plan
