// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace counterpoise {

// The closed-form laws of a data-parallel step. Everything here follows from the distribution F of one
// window's cost without drawing a random number: the same input gives the same answer, in tens of
// milliseconds. Costs are >= 0 and finite, in any unit (seconds, pairs); only means and variances carry it.
// docs/laws.md derives the formulas.

// Distribution of a cost: distinct values, ascending, with probabilities that sum to 1.
struct CostDistribution {
  std::vector<double> value;
  std::vector<double> mass;
  // Empty: every value is an atom. Else each mass is spread evenly over value +- cell / 2, cells touch, and
  // masses may be 0 (what a convolution of many-valued costs gives).
  std::vector<double> cell;

  double mean() const;
  double variance() const;
};

// Sorts and merges equal costs; `weights` (none, or one a cost, >= 0) are relative frequencies.
// Throws kBadInput where there is no cost, or one is negative or not finite, or all weights are 0.
CostDistribution cost_distribution(std::span<const double> costs, std::span<const double> weights = {});

// Distribution of the mean of `windows` (>= 1) independent costs. Exact atoms where F has few values or
// lies on a coarse lattice; else on a grid that keeps the mean to rounding and the variance within 0.1 %.
CostDistribution mean_of_windows(const CostDistribution& window, int64_t windows);

// The mean of every run of `windows` consecutive costs of a stream: the distribution of a group's time where
// its windows are neighbours and therefore not independent. Throws kUsage where the stream is shorter.
CostDistribution mean_of_neighbours(std::span<const double> stream, int64_t windows);

// Autocorrelation of a stationary stream of costs; rho[0] = 1, lags beyond the last count as 0.
struct Autocorrelation {
  std::vector<double> rho;

  // Var(mean of n neighbours) / Var(one) = (1 + 2 sum_{0<k<n} (1 - k/n) rho_k) / n; 1/n where independent.
  double variance_of_mean(int64_t n) const;
  // Windows that carry as much independent information as `n` neighbours do.
  double effective_windows(int64_t n) const { return 1 / variance_of_mean(n); }
  // Expected sample variance (divisor groups - 1) of a step whose `groups` adjacent groups hold `windows`
  // neighbours each, over Var(one). Neighbouring groups resemble each other, which lowers it further:
  // E[s^2] = groups / (groups - 1) x (variance_of_mean(windows) - variance_of_mean(groups x windows)).
  // groups >= 2.
  double within_step_variance(int64_t windows, int64_t groups) const;
};

// Measured from a stream (unbiased in the lag, about the stream's mean), lags 0..min(lags, size - 1).
// A stream without variance has rho = 0 at every lag above 0.
Autocorrelation autocorrelation(std::span<const double> stream, int64_t lags);

// What the laws say about steps of `groups` independent groups, each with `windows` windows one after
// another.
struct Law {
  int64_t windows = 1;  // a group averages over: CP where every rank brings one (x micro-batches per step)
  int64_t groups = 1;   // data-parallel groups that wait for each other

  double mean = 0;                  // of one window's cost, and so of the mean of any number
  double variance = 0;              // of the mean of `windows` windows
  double cv = 0;                    // sqrt(variance) / mean; 0 where every cost is 0
  double within_step_variance = 0;  // E of the sample variance over a step's groups (divisor groups - 1)

  // within_step_variance over that of the same groups x windows costs taken one by one (what CP = 1 shows
  // under a profile whose prices do not depend on CP). Independent: 1 / windows.
  double variance_ratio = 1;
  double effective_windows = 1;  // `windows` where independent, less where neighbours resemble each other

  double slowdown = 1;              // E[max over groups] / E[mean], groups meeting once per step
  double wait_share = 0;            // 1 - 1 / slowdown
  double slowdown_micro_batch = 1;  // the same where groups meet after every window
  double gaussian_slowdown = 1;     // 1 + cv sqrt(2 ln groups): extreme values of a normal distribution
  double max_over_mean = 1;         // E[max / mean] within a step; a step without any cost counts as 1

  // Slowest over fastest group of a step, a step with a zero-cost group counting as infinite: null where
  // the number is infinite.
  std::optional<double> max_over_min_p50;
  std::optional<double> max_over_min_p90;
  std::optional<double> max_over_min_mean;  // null as soon as a zero cost is possible at all
  double share_below_2 = 0;                 // P(max / min < 2), strictly
};

// The laws at one CP degree of a sweep, to stand beside CpResult.
struct LawRow {
  int64_t cp = 1;
  Law all;  // ranks / cp groups; mean and variance are of a group's time in a step, in the profile's unit
  std::optional<Law> fixed;  // 8 groups, whatever the CP; absent where a stream is shorter than such a step
  // Within-step variance and CV^2 over those at CP = 1, prices at this CP included, as simulate reports them;
  // absent with one group and where CP = 1 has no variance.
  std::optional<double> variance_ratio, cv2_ratio, fixed_variance_ratio;
};

// Independent windows (shuffled). windows, groups >= 1, else kUsage. At CP = c, price one rank's share at c
// and ask for c windows.
Law law_of(const CostDistribution& window, int64_t windows, int64_t groups);
Law law_of(std::span<const double> window_costs, int64_t windows, int64_t groups);
// The same with mean_of_windows(window, windows) at hand: most of the work where groups differ alone.
Law law_of(const CostDistribution& window, const CostDistribution& mean, int64_t windows, int64_t groups);

// Windows in stream order: a group's windows are neighbours, and so are the groups of a step. variance_ratio
// is corrected by the autocorrelation within and between groups; max and min are expectations over every
// offset at which a step can begin in the stream (over evenly spaced ones, of a long stream and many groups).
// Throws kUsage where the stream is shorter than one step.
Law law_of_stream(std::span<const double> stream, int64_t windows, int64_t groups);

// Fewest windows per group with slowdown <= target at `groups` groups, at most `limit`; null where even
// `limit` windows do not reach it. target > 1 (kUsage).
std::optional<int64_t> windows_for_slowdown(const CostDistribution& window, int64_t groups, double target,
                                            int64_t limit = 4096);
// The same for neighbours of a stream, groups taken as independent; `limit` is lowered to the stream's
// length.
std::optional<int64_t> windows_for_slowdown_of_stream(std::span<const double> stream, int64_t groups,
                                                      double target, int64_t limit = 4096);

// Hill's estimate of the tail index of positive values from the largest 1 % (at least 20, at most half);
// below 2 the variance is set by the largest values seen and does not settle as more are seen. Null where
// there are too few values, or the largest are all equal (a bound, not a tail).
std::optional<double> tail_index(std::span<const double> values);

}  // namespace counterpoise
