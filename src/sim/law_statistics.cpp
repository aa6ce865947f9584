// SPDX-License-Identifier: Apache-2.0
#include "sim/law_statistics.h"

#include <algorithm>
#include <cmath>

#include "sim/ties.h"

namespace counterpoise {
namespace {

size_t first_positive(const Cells& cells) {
  return static_cast<size_t>(std::upper_bound(cells.value.begin(), cells.value.end(), 0.0) -
                             cells.value.begin());
}

// E[max e^(-t S)] = sum over x of dx [phi(t)^G - phi(t; x)^G] (max and S = sum over the groups).
double transformed_max(const Cells& cells, int64_t groups, double t, std::vector<double>& partial) {
  double sum = 0;
  for (size_t k = 0; k < cells.size(); ++k) {
    sum += cells.mass[k] * std::exp(-t * cells.value[k]);
    partial[k] = power(sum, groups);
  }
  double result = cells.value[0] * partial.back();
  for (size_t k = 0; k + 1 < cells.size(); ++k) {
    result += (cells.value[k + 1] - cells.value[k]) * (partial.back() - partial[k]);
  }
  return result;
}

double mean_of(const Cells& cells) {
  double mean = 0;
  for (size_t k = 0; k < cells.size(); ++k) mean += cells.mass[k] * cells.value[k];
  return mean;
}

// E[max; min >= y] for y the value of cell i.
double max_where_min_from(const Cells& cells, int64_t groups, size_t i) {
  const double before = i == 0 ? 0 : cells.up_to[i - 1];
  double result = cells.value.back() * power(1 - before, groups);
  for (size_t j = i; j + 1 < cells.size(); ++j) {
    result -= (cells.value[j + 1] - cells.value[j]) * power(cells.up_to[j] - before, groups);
  }
  return result;
}

}  // namespace

double expected_max(const CostDistribution& distribution, int64_t groups) {
  double up_to = 0, reached = 0, result = 0;
  for (size_t k = 0; k < distribution.value.size(); ++k) {
    up_to += distribution.mass[k];
    const double next = power(std::min(up_to, 1.0), groups);
    result += distribution.value[k] * (next - reached);
    reached = next;
  }
  return result / reached;  // reached is 1 to rounding
}

double expected_max_over_mean(const Cells& cells, int64_t groups) {
  const double all_zero = cells.value[0] == 0 ? power(cells.mass[0], groups) : 0;
  const double mean = mean_of(cells);
  if (groups == 1 || mean == 0) return 1;
  // 1/S = integral of e^(-tS) dt; in u = log t the integrand is analytic in a strip of half-width pi / 2, so
  // the trapezoid rule with step d errs by about e^(-pi^2 / d).
  constexpr double kStep = 0.375;
  const double scale = 1 / (static_cast<double>(groups) * mean);
  const double smallest = cells.value[first_positive(cells)];
  std::vector<double> partial(cells.size());
  double integral = 0;
  for (int step = 0;; ++step) {
    const double t = 1e-6 * scale * std::exp(kStep * step);
    const double term = t * transformed_max(cells, groups, t, partial);
    // Below the first node the integrand is t E[max]: the rest of the sum is geometric.
    integral += step == 0 ? term / (1 - std::exp(-kStep)) : term;
    if (t > scale && (term < 1e-12 * integral || t * smallest > 700)) break;
  }
  return all_zero + static_cast<double>(groups) * kStep * integral;
}

double expected_max_over_min(const Cells& cells, int64_t groups) {
  double result = max_where_min_from(cells, groups, 0) / cells.value[0];
  for (size_t i = 1; i < cells.size(); ++i) {
    if (power(1 - cells.up_to[i - 1], groups) * cells.value.back() < 1e-12 * result * cells.value[i]) break;
    result += max_where_min_from(cells, groups, i) * (1 / cells.value[i] - 1 / cells.value[i - 1]);
  }
  return result;
}

double share_of_ratios_below(const Cells& cells, int64_t groups, double ratio, bool or_equal) {
  const double factor = ratio * (or_equal ? 1 + kTie : 1 - kTie);
  size_t cursor = 0;
  double share = 0;
  for (size_t i = first_positive(cells); i < cells.size(); ++i) {
    // P(min in cell i, max < r min) = P(all in [y, r y)) - P(all in (y, r y)).
    const double before = i == 0 ? 0 : cells.up_to[i - 1];
    const double reach = std::max(cells.up_to[i], cells.below(cursor, factor * cells.value[i]));
    share += power(reach - before, groups) - power(reach - cells.up_to[i], groups);
  }
  return std::clamp(share, 0.0, 1.0);
}

std::optional<double> quantile_of_max_over_min(const Cells& cells, int64_t groups, double q) {
  const size_t first = first_positive(cells);
  if (first == cells.size()) return std::nullopt;
  // Rounding may leave the sum of all shares an ulp short of one.
  const double wanted = q * (1 - 1e-12);
  double hi = std::log(cells.hi.back() / cells.value[first]) + 1e-9, lo = 0;
  if (share_of_ratios_below(cells, groups, std::exp(hi), true) < wanted) return std::nullopt;
  if (share_of_ratios_below(cells, groups, 1, true) >= wanted) return 1;
  while (hi - lo > 1e-10 * std::max(1.0, hi)) {
    const double middle = (lo + hi) / 2;
    (share_of_ratios_below(cells, groups, std::exp(middle), true) >= wanted ? hi : lo) = middle;
  }
  return std::exp(hi);
}

}  // namespace counterpoise
