// SPDX-License-Identifier: Apache-2.0
#include "study/measure_groups.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "counterpoise/calibrate_cpu.h"
#include "counterpoise/error.h"
#include "exec/repeated_timings.h"
#include "exec/timing.h"
#include "sim/step_series.h"
#include "study/draw_windows.h"

namespace counterpoise {
namespace {

constexpr uint64_t kMeasuredPart = uint64_t{1} << 48;  // random streams apart from the simulation's
constexpr int64_t kBatchSteps = 2;
constexpr uint64_t kRepeatEvery = 8;

// The windows of the measured steps at one CP degree.
struct CpWindows {
  int64_t cp = 1, per_group = 1;
  int64_t step_groups = 1;  // groups of a step
  int64_t groups = 1;       // of those, measured
  std::vector<Window> windows;

  int64_t per_step() const { return step_groups * per_group; }
};

// One rank's per-document zigzag share of a window.
struct WindowShare {
  std::vector<WorkShape> shapes;
  double squares = 0;  // sum of piece length^2 / cp
};

WindowShare window_share(const Window& window, int64_t cp, int64_t rank, const CostShape& shape) {
  WindowShare share;
  for (const Piece& piece : window.pieces) {
    for (const WorkShape& tile : zigzag_share(piece.length, cp, rank, shape)) share.shapes.push_back(tile);
    const double length = static_cast<double>(piece.length);
    share.squares += length * length / static_cast<double>(cp);
  }
  return share;
}

struct Job {
  size_t column;
  int64_t step, group;
  bool repeat;                      // for the noise alone
  std::vector<WindowShare> shares;  // of its windows, one rank's of each, rotating
  std::vector<double> seconds;      // that they took
};

class Measurer {
 public:
  Measurer(const Lengths& lengths, const StudyConfig& config, const KernelProfile& profile)
      : config_(config), profile_(profile), random_(config.simulation.seed, kMeasuredPart - 1) {
    const SimulationConfig& simulation = config.simulation;
    const bool fixed = simulation.regime == Regime::kFixed;
    for (const int64_t c : simulation.cp) {
      CpWindows& column = columns_.emplace_back();
      column.cp = c;
      column.groups = column.step_groups = simulation.ranks / c;
      column.per_group = simulation.windows_per_group(c);
      const int64_t tokens = simulation.pack.window * (fixed ? 1 : c);
      const int64_t count = std::min(config.max_measured_steps, kMostSteps) * column.per_step();
      column.windows = fixed && columns_.size() > 1
                           ? columns_.front().windows
                           : draw_windows(lengths, simulation, tokens, count, kMeasuredPart);
      steps_ = std::min(steps_, static_cast<int64_t>(column.windows.size()) / column.per_step());
      widest_ = std::max(widest_, tokens);
    }
    shape_ = cost_shape(config.heads, DType::kFloat32);
    noise_.resize(columns_.size());
  }

  Measurements run(double budget, const Progress& progress) {
    const double begin = wall_seconds();
    fit_into(budget);
    for (const CpWindows& column : columns_) {
      MeasuredCp& result = results_.results.emplace_back();
      result.cp = column.cp;
      result.windows_per_group = column.per_group;
      result.groups = column.groups;
      result.step_groups = column.step_groups;
    }
    CalibrationOptions options;
    options.heads = config_.heads;
    options.isa = config_.isa;
    options.seed = config_.simulation.seed;
    options.backward = config_.backward;
    TimedKernel kernel(options, widest_);
    warm_up(kernel);
    double calibrated = 0;  // of the same kernel only
    if (calibrated_isa(profile_) == isa_name(kernel.isa())) calibrated = calibrated_reference(profile_);
    RepeatedTimings timings([&kernel] { return kernel.run_reference(); },
                            RandomStream(config_.simulation.seed, kMeasuredPart - 2), calibrated);
    for (int64_t step = 0; step < steps_; step += kBatchSteps) {
      const double spent = wall_seconds() - begin;
      const double per_step = step > 0 ? spent / static_cast<double>(step) : 0;
      if (step > 0 && spent + per_step * kBatchSteps > budget) break;
      std::vector<Job> jobs = jobs_of(step, std::min(step + kBatchSteps, steps_));
      measure(jobs, kernel, timings, budget - spent, [&](double) {
        if (progress) progress("measuring groups", std::min(1.0, (wall_seconds() - begin) / budget));
      });
      keep(jobs);
    }
    results_.steps = static_cast<int64_t>(results_.results.front().measured.size());
    results_.seconds = wall_seconds() - begin;
    results_.timings = timings.timings();
    results_.retaken = timings.retaken();
    results_.unusual = timings.unusual();
    results_.drift = timings.drift();
    results_.isa = isa_name(kernel.isa());
    results_.cpu = cpu_name();
    summarise_noise();
    return std::move(results_);
  }

 private:
  static constexpr int64_t kMostSteps = 400;

  double price(const WindowShare& share) const {
    const double forward = profile_.call_seconds(share.shapes);
    return config_.backward ? forward + profile_.call_seconds(share.shapes, Direction::kBackward) : forward;
  }

  double priced(const CpWindows& column, int64_t window, int64_t rank) const {
    return price(window_share(column.windows[static_cast<size_t>(window)], column.cp, rank, shape_));
  }

  // Where one batch alone would overrun the budget, only the first groups of each step are measured.
  void fit_into(double budget) {
    double batch = 0;
    for (const CpWindows& column : columns_)
      for (int64_t w = 0; w < column.per_step(); ++w)
        batch += priced(column, w, w % column.cp) * static_cast<double>(std::min(kBatchSteps, steps_));
    const double share = budget / (batch * static_cast<double>(config_.repeats));
    if (!(share < 1)) return;
    for (CpWindows& column : columns_)
      column.groups =
          std::clamp<int64_t>(static_cast<int64_t>(share * static_cast<double>(column.step_groups)),
                              std::min<int64_t>(2, column.step_groups), column.step_groups);
  }

  double run_share(TimedKernel& kernel, const WindowShare& share) const {
    const double forward = kernel.run(share.shapes, Direction::kForward);
    return config_.backward ? forward + kernel.run(share.shapes, Direction::kBackward) : forward;
  }

  void warm_up(TimedKernel& kernel) const {
    for (int64_t i = 0; i < 2; ++i)
      run_share(kernel, window_share(columns_.front().windows[0], 1, 0, shape_));
  }

  // The groups of some steps; after some of them the same once more.
  std::vector<Job> jobs_of(int64_t first, int64_t last) {
    std::vector<Job> jobs;
    for (size_t column = 0; column < columns_.size(); ++column)
      for (int64_t step = first; step < last; ++step)
        for (int64_t group = 0; group < columns_[column].groups; ++group) {
          jobs.push_back({column, step, group, false, shares_of(columns_[column], step, group), {}});
          if (random_.below(kRepeatEvery) > 0) continue;
          jobs.push_back(jobs.back());
          jobs.back().repeat = true;
        }
    return jobs;
  }

  std::vector<WindowShare> shares_of(const CpWindows& column, int64_t step, int64_t group) const {
    std::vector<WindowShare> shares;
    for (int64_t m = 0; m < column.per_group; ++m) {
      const int64_t index = step * column.per_step() + group * column.per_group + m;
      shares.push_back(window_share(column.windows[static_cast<size_t>(index)], column.cp,
                                    (step + group + m) % column.cp, shape_));
    }
    return shares;
  }

  // A group runs its windows one after another.
  void measure(std::vector<Job>& jobs, TimedKernel& kernel, RepeatedTimings& timings, double seconds,
               const RepeatedTimings::Progress& progress) const {
    struct Call {
      Job* job;
      const WindowShare* share;
    };
    std::vector<Call> calls;
    for (Job& job : jobs)
      for (const WindowShare& share : job.shares) calls.push_back({&job, &share});
    TimingEffort effort;
    effort.least = effort.usual = config_.repeats;
    // Many steps tell more about variance than exact ones; repeats are asked for where times matter.
    effort.most = config_.repeats == 1 ? 1 : 4 * config_.repeats;
    effort.patience = config_.repeats == 1 ? 0.5 : 3;
    effort.seconds = seconds;
    const auto run = [&](size_t i) { return run_share(kernel, *calls[i].share); };
    const std::vector<CallTime> times = timings.time(calls.size(), run, effort, progress);
    for (size_t i = 0; i < calls.size(); ++i) calls[i].job->seconds.push_back(times[i].seconds);
  }

  void keep(const std::vector<Job>& jobs) {
    for (const Job& job : jobs) {
      if (!job.repeat) {
        keep(job);
        continue;
      }
      const double again = std::accumulate(job.seconds.begin(), job.seconds.end(), 0.0);
      noise_[job.column].push_back(std::abs(again / group_seconds(job) - 1));
    }
  }

  void keep(const Job& job) {
    MeasuredCp& result = results_.results[job.column];
    const CpWindows& column = columns_[job.column];
    const auto step = static_cast<size_t>(job.step);
    for (auto* rows : {&result.measured, &result.predicted, &result.squares}) {
      if (rows->size() <= step) rows->resize(step + 1);
      (*rows)[step].resize(static_cast<size_t>(column.groups * column.per_group));
    }
    for (int64_t m = 0; m < column.per_group; ++m) {
      const WindowShare& share = job.shares[static_cast<size_t>(m)];
      const auto slot = static_cast<size_t>(job.group * column.per_group + m);
      result.measured[step][slot] = job.seconds[static_cast<size_t>(m)];
      result.predicted[step][slot] = price(share);
      result.squares[step][slot] = share.squares;
    }
  }

  double group_seconds(const Job& job) const {
    const CpWindows& column = columns_[job.column];
    const std::vector<double>& times = results_.results[job.column].measured[static_cast<size_t>(job.step)];
    double total = 0;
    for (int64_t m = 0; m < column.per_group; ++m)
      total += times[static_cast<size_t>(job.group * column.per_group + m)];
    return total;
  }

  void summarise_noise() {
    std::vector<double> all;
    for (size_t column = 0; column < columns_.size(); ++column) {
      std::vector<double>& own = noise_[column];
      all.insert(all.end(), own.begin(), own.end());
      if (own.empty()) continue;
      std::sort(own.begin(), own.end());
      results_.results[column].repeat_noise = own[own.size() / 2];
    }
    results_.repeats = static_cast<int64_t>(all.size());
    if (all.empty()) return;
    std::sort(all.begin(), all.end());
    results_.repeat_noise_median = all[all.size() / 2];
    results_.repeat_noise_p90 = all[all.size() * 9 / 10];
  }

  const StudyConfig& config_;
  const KernelProfile& profile_;
  RandomStream random_;
  CostShape shape_;
  std::vector<CpWindows> columns_;
  int64_t steps_ = kMostSteps;
  int64_t widest_ = 0;
  std::vector<std::vector<double>> noise_;  // by column
  Measurements results_;
};

void add_statistics(Measurements& measurements) {
  std::vector<StepSeries> series;
  for (const MeasuredCp& column : measurements.results) {
    StepSeries& s = series.emplace_back();
    s.groups = column.groups;
    for (const std::vector<double>& step : column.measured) s.add_step(step, column.windows_per_group);
  }
  for (size_t j = 0; j < series.size(); ++j) {
    MeasuredCp& column = measurements.results[j];
    column.statistics = statistics(series[j]);
    if (column.groups < column.step_groups)
      column.statistics.max_over_min = {};  // of all groups of a step, or none
    column.variance_ratio = variance_ratio(series[j], series.front(), false, 1);
    column.cv2_ratio = variance_ratio(series[j], series.front(), true, 1);
  }
}

}  // namespace

Measurements measure_groups(const Lengths& lengths, const StudyConfig& config, double budget_seconds,
                            const KernelProfile& profile, const Progress& progress) {
  CP_CHECK(config.simulation.cp.front() == 1);
  Measurements result = Measurer(lengths, config, profile).run(budget_seconds, progress);
  add_statistics(result);
  return result;
}

}  // namespace counterpoise
