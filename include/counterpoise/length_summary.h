// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "counterpoise/lengths.h"

namespace counterpoise {

// What document lengths say about balance before anything is simulated. "Squares" is the sum of squared
// lengths, to which attention work is proportional. Shares are of 1.
struct LengthSummary {
  struct Quantile {
    double p = 0;        // 0.5 for the median, 1 for the maximum
    int64_t length = 0;  // the smallest length that at least the share p of documents does not exceed
  };
  // Lengths lo..hi, both included; hi is 0 or a power of two.
  struct Bin {
    int64_t lo = 0, hi = 0;
    double documents = 0, tokens = 0, squares = 0;  // each bin's share of the total
  };
  // The longest 1 % of documents (of n documents, n / 100 rounded up).
  struct Longest {
    double documents = 0;  // the share that is really taken
    double tokens = 0, squares = 0;
  };
  // P(length > x) ~ x^-index, by Hill (1975): 1 / index = mean of ln(length / threshold) over the k longest.
  // For length^2 it is half of that; below 2 the variance of a power law's squares is not finite.
  struct Tail {
    double index = 0;
    double squared_index = 0;
    std::optional<int64_t> k;  // documents used, max(25, documents / 100); nothing for a distribution: 1 %
    int64_t threshold = 0;     // the longest document not used
  };

  std::optional<int64_t> documents;    // nothing for a distribution, as the next two
  std::optional<int64_t> tokens;       // where the source has bins: their middle
  std::optional<int64_t> zero_length;  // documents of no token
  double zero_length_share = 0;
  double mean = 0;         // E[L]
  double mean_square = 0;  // E[L^2]
  int64_t min = 0, max = 0;
  std::vector<Quantile> quantiles;  // p1 5 10 25 50 75 90 95 99 99.9 max
  std::vector<Bin> histogram;       // from the first to the last bin that holds documents
  // Absent where all lengths are zero.
  std::optional<Longest> longest;
  std::optional<double> cv, squared_cv;  // standard deviation / mean, of length and of length^2
  std::optional<Tail> tail;
  std::string no_tail;  // why `tail` is absent
};

// O(n log n) in the documents.
LengthSummary summarise(const Lengths& lengths);

}  // namespace counterpoise
