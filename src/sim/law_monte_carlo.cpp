// SPDX-License-Identifier: Apache-2.0
#include "sim/law_monte_carlo.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>

#include "counterpoise/error.h"
#include "counterpoise/parallel.h"
#include "counterpoise/random.h"
#include "sim/ties.h"

namespace counterpoise {
namespace {

constexpr int64_t kBlock = 1000;  // steps drawn from one random stream

// Sums over steps, of quantities whose means and errors are wanted.
struct Sums {
  double max = 0, max2 = 0, mean = 0, mean2 = 0, max_mean = 0;
  double over_mean = 0, over_mean2 = 0, over_min = 0, over_min2 = 0;
  double variance = 0, variance2 = 0;
  int64_t below_2 = 0;

  // Returns max / min.
  double add(std::span<const double> times) {
    double most = times[0], least = times[0], sum = 0, squares = 0;
    for (const double time : times) most = std::max(most, time), least = std::min(least, time), sum += time;
    const double average = sum / static_cast<double>(times.size());
    for (const double time : times) squares += (time - average) * (time - average);
    const double s2 = times.size() > 1 ? squares / static_cast<double>(times.size() - 1) : 0;
    const double ratio = average > 0 ? most / average : 1;
    const double spread = least > 0 ? most / least : std::numeric_limits<double>::infinity();
    max += most, max2 += most * most;
    mean += average, mean2 += average * average, max_mean += most * average;
    over_mean += ratio, over_mean2 += ratio * ratio;
    over_min += spread, over_min2 += spread * spread;
    variance += s2, variance2 += s2 * s2;
    below_2 += spread < kBelowTwo;
    return spread;
  }

  void operator+=(const Sums& other) {
    max += other.max, max2 += other.max2, mean += other.mean, mean2 += other.mean2;
    max_mean += other.max_mean, over_mean += other.over_mean, over_mean2 += other.over_mean2;
    over_min += other.over_min, over_min2 += other.over_min2;
    variance += other.variance, variance2 += other.variance2, below_2 += other.below_2;
  }
};

SampledMean mean_of(double sum, double squares, double n) {
  const double mean = sum / n;
  return {mean, std::sqrt(std::max(0.0, squares / n - mean * mean) / n)};
}

SampledMean ratio_of_sums(const Sums& s) {
  if (s.mean == 0) return {1, 0};
  const double ratio = s.max / s.mean;
  const double residual = s.max2 - 2 * ratio * s.max_mean + ratio * ratio * s.mean2;
  return {ratio, std::sqrt(std::max(0.0, residual)) / s.mean};
}

void finish(SampledSteps& result, const Sums& sums) {
  const auto n = static_cast<double>(result.steps);
  result.slowdown = ratio_of_sums(sums);
  result.max_over_mean = mean_of(sums.over_mean, sums.over_mean2, n);
  const auto below = static_cast<double>(sums.below_2);
  result.share_below_2 = mean_of(below, below, n);
  result.within_step_variance = mean_of(sums.variance, sums.variance2, n);
  if (std::isfinite(sums.over_min)) result.max_over_min_mean = mean_of(sums.over_min, sums.over_min2, n);
  std::sort(result.max_over_min.begin(), result.max_over_min.end());
}

// Group times of one step: times[j][g] is the mean of the first windows[j] costs of group g.
void draw_step(std::span<const double> costs, std::span<const int64_t> windows, int64_t groups,
               RandomStream& random, std::vector<std::vector<double>>& times) {
  for (size_t g = 0; g < static_cast<size_t>(groups); ++g) {
    double sum = 0;
    int64_t drawn = 0;
    for (size_t j = 0; j < windows.size(); ++j) {
      for (; drawn < windows[j]; ++drawn) sum += costs[random.below(costs.size())];
      times[j][g] = sum / static_cast<double>(windows[j]);
    }
  }
}

}  // namespace

std::vector<SampledSteps> sample_steps(std::span<const double> costs, std::span<const int64_t> windows,
                                       std::span<const int64_t> groups, int64_t steps, uint64_t seed,
                                       int threads, const std::function<void(double)>& progress) {
  CP_CHECK(!costs.empty() && !windows.empty() && !groups.empty() && steps >= 1);
  std::vector<SampledSteps> results;
  for (const int64_t c : windows) {
    for (const int64_t g : groups) {
      SampledSteps& result = results.emplace_back();
      result.windows = c, result.groups = g, result.steps = steps;
      result.max_over_min.resize(static_cast<size_t>(steps));
    }
  }
  const int64_t blocks = (steps + kBlock - 1) / kBlock;
  std::vector<std::vector<Sums>> sums(static_cast<size_t>(blocks), std::vector<Sums>(results.size()));
  std::mutex progress_mutex;
  int64_t done = 0;
  parallel_for(blocks, threads, [&](int64_t block) {
    RandomStream random(seed, static_cast<uint64_t>(block));
    std::vector<std::vector<double>> times(windows.size(),
                                           std::vector<double>(static_cast<size_t>(groups.back())));
    for (int64_t step = block * kBlock; step < std::min((block + 1) * kBlock, steps); ++step) {
      draw_step(costs, windows, groups.back(), random, times);
      for (size_t i = 0; i < results.size(); ++i) {
        const std::span<const double> all = times[i / groups.size()];
        results[i].max_over_min[static_cast<size_t>(step)] = sums[static_cast<size_t>(block)][i].add(
            all.first(static_cast<size_t>(groups[i % groups.size()])));
      }
    }
    const std::lock_guard lock(progress_mutex);
    if (progress) progress(static_cast<double>(++done) / static_cast<double>(blocks));
  });
  for (size_t i = 0; i < results.size(); ++i) {
    Sums total;
    for (const std::vector<Sums>& block : sums) total += block[i];
    finish(results[i], total);
  }
  return results;
}

}  // namespace counterpoise
