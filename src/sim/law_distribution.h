// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "counterpoise/law.h"

namespace counterpoise {

// A distribution as ascending cells, each with its mean and its mass spread evenly over [lo, hi]; an atom
// has lo == hi. Every mass is above 0.
struct Cells {
  std::vector<double> lo, hi, value, mass;
  std::vector<double> up_to;  // mass of this cell and all before it; the last is 1

  size_t size() const { return value.size(); }
  void add(double from, double to, double mean, double weight, double cumulative) {
    lo.push_back(from);
    hi.push_back(to);
    value.push_back(mean);
    mass.push_back(weight);
    up_to.push_back(cumulative);
  }

  // P(X < x). `cursor` starts at 0 and serves calls of ascending x in amortised constant time.
  double below(size_t& cursor, double x) const;
};

// All values as they are where there are at most `limit`; else neighbours are merged, mean kept, into about
// `limit` to 2 x `limit` cells, finer towards both tails. A value of more than 1 / limit mass stays an atom.
Cells cells_of(const CostDistribution& distribution, size_t limit);

// base^exponent for exponent >= 1, by squaring.
inline double power(double base, int64_t exponent) {
  double result = 1;
  for (;; base *= base) {
    if (exponent & 1) result *= base;
    if ((exponent >>= 1) == 0) return result;
  }
}

}  // namespace counterpoise
