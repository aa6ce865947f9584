// SPDX-License-Identifier: Apache-2.0
#include "sim/law_distribution.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "counterpoise/error.h"

namespace counterpoise {
namespace {

void check_cost(double cost, double weight) {
  if (!std::isfinite(cost) || cost < 0) {
    throw_error(ErrorKind::kBadInput, "a window cost is {}; costs must be finite and not negative", cost);
  }
  if (!std::isfinite(weight) || weight < 0) {
    throw_error(ErrorKind::kBadInput, "a cost has weight {}; weights must be finite and not negative",
                weight);
  }
}

void normalise(std::vector<double>& mass) {
  const double total = std::accumulate(mass.begin(), mass.end(), 0.0);
  if (!(total > 0)) throw_error(ErrorKind::kBadInput, "no window has a cost with a weight above 0");
  for (double& m : mass) m /= total;
}

CostDistribution merge_sorted(const std::vector<double>& costs) {
  CostDistribution result;
  for (size_t i = 0; i < costs.size();) {
    const size_t begin = i;
    while (i < costs.size() && costs[i] == costs[begin]) ++i;
    result.value.push_back(costs[begin]);
    result.mass.push_back(static_cast<double>(i - begin));
  }
  normalise(result.mass);
  return result;
}

CostDistribution merge_weighted(std::span<const double> costs, std::span<const double> weights) {
  std::vector<size_t> order(costs.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return costs[a] < costs[b]; });
  CostDistribution result;
  for (const size_t i : order) {
    if (weights[i] == 0) continue;
    if (result.value.empty() || result.value.back() != costs[i]) {
      result.value.push_back(costs[i]);
      result.mass.push_back(0);
    }
    result.mass.back() += weights[i];
  }
  normalise(result.mass);
  return result;
}

// A cell of the merged distribution while it grows.
struct OpenCell {
  double lo = 0, hi = 0, moment = 0, mass = 0;
};

}  // namespace

double CostDistribution::mean() const {
  double sum = 0;
  for (size_t i = 0; i < value.size(); ++i) sum += mass[i] * value[i];
  return sum;
}

double CostDistribution::variance() const {
  const double center = mean();
  double sum = 0;
  for (size_t i = 0; i < value.size(); ++i) sum += mass[i] * (value[i] - center) * (value[i] - center);
  return sum;
}

CostDistribution cost_distribution(std::span<const double> costs, std::span<const double> weights) {
  CP_CHECK(weights.empty() || weights.size() == costs.size());
  if (costs.empty()) throw_error(ErrorKind::kBadInput, "there are no window costs to take the laws of");
  for (size_t i = 0; i < costs.size(); ++i) check_cost(costs[i], weights.empty() ? 1 : weights[i]);
  if (!weights.empty()) return merge_weighted(costs, weights);
  std::vector<double> sorted(costs.begin(), costs.end());
  std::sort(sorted.begin(), sorted.end());
  return merge_sorted(sorted);
}

CostDistribution mean_of_neighbours(std::span<const double> stream, int64_t windows) {
  CP_CHECK(windows >= 1);
  if (static_cast<int64_t>(stream.size()) < windows) {
    throw_error(ErrorKind::kUsage, "a stream of {} windows has no run of {} neighbours", stream.size(),
                windows);
  }
  if (windows == 1) return cost_distribution(stream);
  const auto n = static_cast<size_t>(windows);
  std::vector<double> means(stream.size() - n + 1);
  double sum = 0;
  for (size_t i = 0; i < means.size(); ++i) {
    // A fresh sum now and then, so that rounding does not pile up.
    sum = i % 1024 == 0 ? std::accumulate(stream.begin() + static_cast<ptrdiff_t>(i),
                                          stream.begin() + static_cast<ptrdiff_t>(i + n), 0.0)
                        : sum + (stream[i + n - 1] - stream[i - 1]);
    means[i] = std::max(sum, 0.0) / static_cast<double>(windows);
  }
  return cost_distribution(means);
}

Cells cells_of(const CostDistribution& distribution, size_t limit) {
  // A cell holds at most 1 / limit of all mass and at most 32 / limit of the mass on either side, so that the
  // extremes over many groups see as fine a grid as the bulk does; what is rarer than 1e-8 no group count
  // in use sees.
  const double share = distribution.value.size() <= limit ? 0 : 32.0 / static_cast<double>(limit);
  Cells cells;
  OpenCell open;
  double before = 0;  // mass of the closed cells
  const auto close = [&] {
    if (open.mass <= 0) return;
    before = std::min(1.0, before + open.mass);
    cells.add(open.lo, open.hi, open.moment / open.mass, open.mass, before);
    open = {};
  };
  for (size_t i = 0; i < distribution.value.size(); ++i) {
    const double mass = distribution.mass[i];
    if (mass <= 0) continue;
    const double side = std::min(before + open.mass + mass, 1 - before);
    if (open.mass + mass > share * std::clamp(side, 1e-8, 1.0 / 32)) close();
    const double half = distribution.cell.empty() ? 0 : distribution.cell[i] / 2;
    if (open.mass == 0) open.lo = distribution.value[i] - half;
    open.hi = distribution.value[i] + half;
    open.moment += mass * distribution.value[i];
    open.mass += mass;
  }
  close();
  cells.up_to.back() = 1;
  return cells;
}

double Cells::below(size_t& cursor, double x) const {
  while (cursor < size() && hi[cursor] < x) ++cursor;
  const double before = cursor == 0 ? 0 : up_to[cursor - 1];
  if (cursor == size() || x <= lo[cursor]) return before;
  return before + mass[cursor] * (x - lo[cursor]) / (hi[cursor] - lo[cursor]);
}

}  // namespace counterpoise
