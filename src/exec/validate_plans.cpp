// SPDX-License-Identifier: Apache-2.0
#include "exec/validate_plans.h"

#include <algorithm>

#include "counterpoise/calibrate_cpu.h"
#include "counterpoise/error.h"
#include "counterpoise/random.h"
#include "exec/plan_calls.h"
#include "exec/repeated_timings.h"
#include "exec/run_steps.h"
#include "exec/validation_trials.h"
#include "exec/window_stream.h"

namespace counterpoise {
namespace {

constexpr int32_t kRanks = 4;
constexpr int64_t kLongestWindow = 1024;
constexpr int kWindows = 2;
constexpr int64_t kLeastRuns = 2, kUsualRuns = 3;
const HeadShape kHeads{4, 2, 64, 0, 0};

// One window's plan; a trial per rank that has something to compute.
struct PlanTrials {
  size_t pair = 0;
  StepPlan plan;
  std::vector<Trial> ranks;
};

struct Pair {
  std::string name, refused;
};

std::vector<Trial> rank_trials(const StepPlan& plan, const std::string& pair, size_t window,
                               const std::vector<int64_t>& documents, const CostModel& model) {
  std::vector<Trial> trials;
  for (int32_t rank = 0; rank < kRanks; ++rank) {
    Trial& trial = trials.emplace_back();
    trial.label = fmt::format("{}, window {}, rank {}", pair, window, rank);
    trial.naive.cp = kRanks;
    for (const int64_t document : documents) {
      const double length = static_cast<double>(document), heads = static_cast<double>(kHeads.heads);
      trial.naive.documents_length += heads * length;
      trial.naive.documents_length_squared += heads * length * length;
    }
    for (const auto& call : attend_shapes(plan, rank)) trial.predicted += model.call_seconds(call);
  }
  return trials;
}

class PlanValidation {
 public:
  PlanValidation(const CpuValidation& options, const Lengths& lengths, const CostModel& model)
      : random_(options.seed, 78) {
    settings_.kernel.isa = options.isa;
    settings_.check = CheckKind::kNone;
    const int64_t window = std::min(options.window, kLongestWindow);
    WindowStream stream(lengths, window, random_);
    std::vector<std::vector<int64_t>> windows;
    for (int w = 0; w < kWindows; ++w) windows.push_back(stream.next());
    for (const SharderInfo& sharder : sharders())
      for (const SchemeInfo& scheme : schemes()) add(sharder.name, scheme.name, windows, model);
  }

  // All plans in random order, again and again within the time. Returns the drift.
  double run(double budget, TimedKernel& kernel, double calibrated,
             const std::function<void(const std::string&, double)>& progress) {
    RepeatedTimings timings([&] { return kernel.run_reference(); }, random_, calibrated);
    TimingEffort effort;
    effort.least = kLeastRuns;
    effort.usual = kUsualRuns;
    effort.seconds = budget;
    const auto run = [&](size_t i) { return execute(plans_[i].plan); };
    const auto times = timings.time_parts(plans_.size(), run, effort, [&](double done) {
      if (progress) progress("running plans", done);
    });
    for (size_t i = 0; i < plans_.size(); ++i)
      for (size_t rank = 0; rank < kRanks; ++rank) plans_[i].ranks[rank].add(times[i][rank]);
    return timings.drift();
  }

  std::vector<ValidationPart> parts(const std::string& split) const {
    std::vector<Trial> all;
    for (size_t pair = 0; pair < pairs_.size(); ++pair)
      for (Trial& trial : trials_of(pair)) all.push_back(std::move(trial));
    std::vector<ValidationPart> parts = {
        compare_trials("this CPU, plans: all sharders x schemes", split, all)};
    parts.back().most_median = 0.05;
    for (size_t pair = 0; pair < pairs_.size(); ++pair) {
      const std::string name = "this CPU, " + pairs_[pair].name;
      parts.push_back(part_of(pair, name, split));
      parts.back().summarised = true;
    }
    return parts;
  }

 private:
  void add(const std::string& sharder, const std::string& scheme,
           const std::vector<std::vector<int64_t>>& windows, const CostModel& model) {
    pairs_.push_back({sharder + " x " + scheme, ""});
    for (size_t w = 0; w < windows.size(); ++w) {
      try {
        PlanTrials one{pairs_.size() - 1, window_plan(sharder, scheme, kRanks, windows[w], kHeads), {}};
        one.ranks = rank_trials(one.plan, pairs_.back().name, w, windows[w], model);
        plans_.push_back(std::move(one));
      } catch (const Error& error) {
        pairs_.back().refused = error.what();
      }
    }
  }

  ValidationPart part_of(size_t pair, const std::string& name, const std::string& split) const {
    std::vector<Trial> trials = trials_of(pair);
    ValidationPart part;
    if (trials.empty()) {
      part.name = name;
      part.unavailable = "refused: " + pairs_[pair].refused;
      return part;
    }
    part = compare_trials(name, split, trials);
    part.most_median = 0.10;  // a few ranks of two windows, and small calls
    return part;
  }

  // CPU seconds of each rank in its attend ops.
  std::vector<double> execute(const StepPlan& plan) const {
    std::vector<double> seconds;
    run_on_threads(kRanks, [&](Communicator& world) {
      const RunRecord record = run_steps({plan}, world, settings_);
      if (world.rank() != 0) return;
      for (const RankUse& rank : record.steps[0].ranks) seconds.push_back(rank.attend_cpu_seconds);
    });
    return seconds;
  }

  std::vector<Trial> trials_of(size_t pair) const {
    std::vector<Trial> trials;
    for (const PlanTrials& one : plans_)
      for (const Trial& trial : one.ranks)
        if (one.pair == pair && trial.predicted > 0) trials.push_back(trial);
    return trials;
  }

  RunSettings settings_;
  RandomStream random_;
  std::vector<Pair> pairs_;
  std::vector<PlanTrials> plans_;
};

}  // namespace

std::vector<ValidationPart> validate_plans(const CpuValidation& options, const Lengths& lengths,
                                           const std::function<void(const std::string&, double)>& progress) {
  CalibrationOptions kernel_options;
  kernel_options.heads = kHeads;
  kernel_options.isa = options.isa;
  kernel_options.max_tokens = std::max<int64_t>(64, std::min(options.window, kLongestWindow));
  kernel_options.budget_seconds = options.budget_seconds * 0.15;
  kernel_options.seed = options.seed;
  const KernelProfilePtr profile = calibrate_cpu(kernel_options, progress);
  TimedKernel kernel(kernel_options, kernel_options.max_tokens);
  PlanValidation validation(options, lengths, profile->model());
  const double drift =
      validation.run(options.budget_seconds * 0.3, kernel, calibrated_reference(*profile), progress);
  std::vector<ValidationPart> parts = validation.parts(fmt::format(
      "{} measured first; CPU seconds of each rank in its attend ops, plans of {} run by {} threads",
      profile_sentence(*profile), options.lengths, kRanks));
  for (ValidationPart& part : parts)
    if (part.unavailable.empty()) add_drift(part, drift);
  return parts;
}

}  // namespace counterpoise
