// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "counterpoise/attention.h"
#include "counterpoise/kernel_profile.h"
#include "counterpoise/simulate.h"

// The verdict: simulate a sweep of CP degrees, run the real kernel for the groups of some steps, compare,
// conclude.
namespace counterpoise {

// Told about long work: what is being done and the share of it that is done.
using Progress = std::function<void(const std::string& what, double done)>;

struct StudyConfig {
  SimulationConfig simulation;  // window 4096, CP 1, 2, 4, 8
  int64_t wide_window = 32768;  // simulated beside it; 0: not
  HeadShape heads;              // of the kernel that is measured
  Isa isa = Isa::kAuto;         // of that kernel
  bool backward = false;        // forward and backward, else forward alone
  // Of calibrate_cpu, of the same heads and float32, or null: measured first.
  KernelProfilePtr profile;
  double budget_seconds = 60;  // of measuring, calibration included
  int64_t max_measured_steps = 1000;
  int64_t repeats = 1;  // runs of each window with the core as fast as usual; their median counts
};

// Seconds of the ranks of one CP degree in the measured steps; a group runs its windows one after another
// and, of each, one rank's per-document zigzag share, the rank rotating with the window.
struct MeasuredCp {
  int64_t cp = 1;
  int64_t windows_per_group = 1;
  int64_t groups = 1;       // measured of each step
  int64_t step_groups = 1;  // groups of a step; more than `groups` where the budget is short
  std::vector<std::vector<double>> measured;   // [step][group x window], seconds
  std::vector<std::vector<double>> predicted;  // the same by the frozen profile
  std::vector<std::vector<double>> squares;    // the same by sum of length^2 / cp, no unit
  GroupStatistics statistics;                  // of `measured`
  std::optional<Estimate> variance_ratio, cv2_ratio;
  std::optional<double> repeat_noise{};  // median |second / first - 1| of groups measured twice
};

// Predicted against measured group times.
struct Agreement {
  double median_error = 0;  // of |predicted / measured - 1| over groups
  double p90_error = 0;
  std::optional<double> r2;  // 1 - residual / total sum of squares over groups; absent without spread
  // What a perfect prediction would reach: the rest of the variance is noise of the measurement.
  std::optional<double> r2_limit;
  double constant_error = 0;  // median error of the mean measured time as the prediction for all
  double squares_error = 0;  // median error of sum of length^2 / cp times one factor fitted to all CP degrees
  double mean_ratio_error = 0;  // of mean time relative to CP = 1, predicted over measured - 1
};

struct Measurements {
  std::vector<MeasuredCp> results;  // one per CP of the sweep, CP = 1 first
  std::vector<Agreement> agreement;
  int64_t steps = 0;
  double repeat_noise_median = 0;  // |second / first - 1| over groups measured twice
  double repeat_noise_p90 = 0;
  // Calls timed; runs beyond those that a core of one's own takes; calls of which no run found the core as
  // fast as usual.
  int64_t timings = 0, retaken = 0, unusual = 0;
  // How much longer a reference call usually took than in the calibration, as a share; 0 where not known.
  double drift = 0;
  int64_t repeats = 0;
  double seconds = 0;  // spent measuring
  std::string isa, cpu;
};

// Does the variance fall as 1/CP? Judged by an interval that holds for all degrees of the sweep at once.
enum class Follows {
  kYes,           // it contains 1/CP, excludes 1 and is within 30 % of 1/CP on either side
  kFaster,        // it lies below 1/CP
  kClose,         // it lies above 1/CP, its middle by at most 10 %
  kNo,            // it lies above 1/CP
  kInconclusive,  // too wide to say
};

struct Judgement {
  Follows follows = Follows::kInconclusive;
  int64_t cp = 1;                       // the degree that decided
  std::optional<Estimate> ratio;        // at that degree
  std::optional<int64_t> needed_steps;  // to be conclusive, when it is not
  std::string reason;                   // why not, for kNo; what hides it, for kInconclusive; may be empty
};

// What packing and the tail do, at CP = 1 and the largest judged CP.
struct Variant {
  std::string name;
  std::vector<CpResult> results;  // at the two degrees
  double tokens_lost = 0;         // share of tokens dropped
  double padding = 0;             // share of window tokens that hold no document
};

struct Study {
  KernelProfilePtr profile;  // given or measured first, frozen
  std::string profile_hash;
  double profile_error = 0;              // its own cross-validated median error
  SimulationResult work;                 // profile `area`: the balance of work, whatever the kernel
  SimulationResult simulated;            // with the frozen profile
  std::optional<SimulationResult> wide;  // at wide_window, profile `area`
  Measurements measured;
  Judgement work_judgement;                     // of `work`: does averaging work at all
  Judgement measured_judgement;                 // of the seconds measured
  std::optional<double> neighbour_correlation;  // of consecutive windows' cost, stream order
  std::optional<double> tail_index;             // of window cost
  std::optional<int64_t> below_two_from;  // smallest judged CP from which every judged median max/min is < 2
  int64_t chosen_cp = 1;                  // least time of the slowest group, ties to the smaller
  std::vector<double> efficiency_cost;    // per CP: mean work time x cp over that at CP = 1, minus 1
  std::vector<Variant> variants;
};

// kUsage for a profile of other heads or elements than the kernel's, or one that calibrate_cpu did not make.
Study run_study(const Lengths& lengths, const StudyConfig& config, const Progress& progress = {});

// The instruction set that the profile was measured with where the kernel ran another one; else empty.
std::string other_isa(const Study& study);

// The rule of `Follows`, for one 95 % interval among `comparisons` that are judged together.
Follows judge_ratio(const Estimate& ratio, int64_t cp, int64_t comparisons = 1);

// Smallest judged CP from which on the median max/min of every judged CP is below two.
std::optional<int64_t> below_two_from(const std::vector<CpResult>& results);

}  // namespace counterpoise
