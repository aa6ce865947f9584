// SPDX-License-Identifier: Apache-2.0
#include "cost/nnls.h"

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "counterpoise/error.h"

namespace counterpoise {
namespace {

using Vector = std::vector<double>;
using Matrix = std::vector<Vector>;

// Normal equations with columns of unit length, so that features of very different size are equals.
struct Normal {
  Matrix gram;
  Vector right, scale;
};

Normal normal_equations(const Matrix& rows, const Vector& right) {
  const size_t n = rows.front().size();
  Normal normal{Matrix(n, Vector(n, 0)), Vector(n, 0), Vector(n, 0)};
  for (const Vector& row : rows)
    for (size_t i = 0; i < n; ++i) normal.scale[i] += row[i] * row[i];
  for (double& scale : normal.scale) scale = scale > 0 ? 1 / std::sqrt(scale) : 0;
  for (size_t r = 0; r < rows.size(); ++r) {
    for (size_t i = 0; i < n; ++i) {
      const double scaled = rows[r][i] * normal.scale[i];
      normal.right[i] += scaled * right[r];
      for (size_t j = 0; j < n; ++j) normal.gram[i][j] += scaled * rows[r][j] * normal.scale[j];
    }
  }
  return normal;
}

// Unconstrained solution with only the columns of `set` (Cholesky); false where they are dependent.
bool solve(const Normal& normal, const std::vector<size_t>& set, Vector& x) {
  constexpr double kDependent = 1e-11;  // of a column's unit length, squared
  const size_t n = set.size();
  Matrix lower(n, Vector(n, 0));
  x.assign(n, 0);
  for (size_t i = 0; i < n; ++i) {
    for (size_t j = 0; j <= i; ++j) {
      double sum = normal.gram[set[i]][set[j]];
      for (size_t k = 0; k < j; ++k) sum -= lower[i][k] * lower[j][k];
      if (i == j && sum < kDependent) return false;
      lower[i][j] = i == j ? std::sqrt(sum) : sum / lower[j][j];
    }
    x[i] = normal.right[set[i]];
    for (size_t k = 0; k < i; ++k) x[i] -= lower[i][k] * x[k];
    x[i] /= lower[i][i];
  }
  for (size_t i = n; i-- > 0;) {
    for (size_t k = i + 1; k < n; ++k) x[i] -= lower[k][i] * x[k];
    x[i] /= lower[i][i];
  }
  return true;
}

}  // namespace

std::vector<double> nonnegative_least_squares(const Matrix& rows, const Vector& right) {
  CP_CHECK(!rows.empty() && rows.size() == right.size() && rows.front().size() <= 16);
  const Normal normal = normal_equations(rows, right);
  const size_t n = normal.right.size();
  Vector best(n, 0), x;
  double best_gain = 0;  // |b|^2 - |A x - b|^2
  for (uint32_t mask = 1; mask < (uint32_t{1} << n); ++mask) {
    std::vector<size_t> set;
    for (size_t i = 0; i < n; ++i)
      if (mask >> i & 1) set.push_back(i);
    if (!solve(normal, set, x)) continue;
    bool positive = true;
    double gain = 0;
    for (size_t i = 0; i < set.size(); ++i) {
      positive = positive && x[i] > 0;
      gain += normal.right[set[i]] * x[i];
    }
    if (!positive || gain <= best_gain) continue;
    best_gain = gain;
    best.assign(n, 0);
    for (size_t i = 0; i < set.size(); ++i) best[set[i]] = x[i] * normal.scale[set[i]];
  }
  return best;
}

}  // namespace counterpoise
