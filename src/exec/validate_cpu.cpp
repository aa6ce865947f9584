// SPDX-License-Identifier: Apache-2.0
#include "counterpoise/validate_cpu.h"

#include <algorithm>

#include "counterpoise/calibrate_cpu.h"
#include "counterpoise/error.h"
#include "counterpoise/lengths.h"
#include "counterpoise/random.h"
#include "exec/plan_calls.h"
#include "exec/repeated_timings.h"
#include "exec/validate_plans.h"
#include "exec/validation_trials.h"
#include "exec/window_stream.h"

namespace counterpoise {
namespace {

constexpr int64_t kGroups = 24;  // per round and CP degree
constexpr int64_t kLeastRuns = 2, kMostRuns = 40, kUsualRuns = 3;

using Progress = std::function<void(const std::string&, double)>;

// A group's windows one after another, of each one rank's share.
struct GroupTrial {
  Trial trial;
  std::vector<TileCall> calls;
};

GroupTrial group_trial(WindowStream& stream, int64_t cp, int64_t group, const CostShape& shape,
                       const CostModel& model) {
  GroupTrial one;
  one.trial.label = fmt::format("group {} at cp {}", group, cp);
  one.trial.naive.cp = static_cast<double>(cp);
  for (int64_t w = 0; w < cp; ++w) {
    const std::vector<int64_t> documents = stream.next();
    for (const int64_t document : documents) {
      const double length = static_cast<double>(document);
      one.trial.naive.documents_length += length;
      one.trial.naive.documents_length_squared += length * length;
    }
    one.calls.push_back(zigzag_call(documents, cp, (group + w) % cp, shape));
    one.trial.predicted += model.call_seconds(one.calls.back().shapes);
  }
  return one;
}

// Every call of every group of all degrees in random order, again and again within the time. Returns the
// drift.
double time_groups(std::vector<std::vector<GroupTrial>>& sets, TimedKernel& kernel, double calibrated,
                   double budget, RandomStream random, const Progress& progress) {
  struct Timed {
    GroupTrial* group;
    const TileCall* call;
  };
  std::vector<Timed> calls;
  for (std::vector<GroupTrial>& set : sets)
    for (GroupTrial& one : set)
      for (const TileCall& call : one.calls) calls.push_back({&one, &call});
  RepeatedTimings timings([&] { return kernel.run_reference(); }, random, calibrated);
  TimingEffort effort;
  effort.least = kLeastRuns;
  effort.most = kMostRuns;
  effort.usual = kUsualRuns;
  effort.seconds = budget;
  const auto run = [&](size_t i) { return kernel.run(calls[i].call->tiles, Direction::kForward); };
  const std::vector<CallTime> times = timings.time(calls.size(), run, effort, [&](double done) {
    if (progress) progress("timing groups", done);
  });
  for (size_t i = 0; i < calls.size(); ++i) calls[i].group->trial.add(times[i]);
  return timings.drift();
}

std::vector<ValidationPart> validate_groups(const CpuValidation& options, const Lengths& lengths,
                                            const Progress& progress) {
  CalibrationOptions kernel_options;
  kernel_options.max_tokens = options.window;
  kernel_options.budget_seconds = options.budget_seconds * 0.2;
  kernel_options.seed = options.seed;
  kernel_options.isa = options.isa;
  const KernelProfilePtr profile = calibrate_cpu(kernel_options, progress);
  TimedKernel kernel(kernel_options, options.window);
  RandomStream random(options.seed, 77);
  WindowStream stream(lengths, options.window, random);
  const std::vector<int64_t> degrees = {1, 2, 4, 8};
  std::vector<std::vector<GroupTrial>> sets;
  for (const int64_t cp : degrees) {
    std::vector<GroupTrial>& set = sets.emplace_back();
    for (int64_t group = 0; group < kGroups; ++group)
      set.push_back(group_trial(stream, cp, group, profile->shape(), profile->model()));
  }
  const double drift = time_groups(sets, kernel, calibrated_reference(*profile),
                                   options.budget_seconds * 0.35, random, progress);
  std::vector<ValidationPart> parts;
  for (size_t i = 0; i < sets.size(); ++i) {
    std::vector<Trial> trials;
    for (GroupTrial& one : sets[i]) trials.push_back(std::move(one.trial));
    parts.push_back(compare_trials(fmt::format("this CPU, groups at cp {}", degrees[i]),
                                   fmt::format("{} measured first on other shapes; group times of {}",
                                               profile_sentence(*profile), options.lengths),
                                   trials));
    parts.back().most_median = 0.05;
    add_drift(parts.back(), drift);
  }
  return parts;
}

}  // namespace

std::vector<ValidationPart> validate_cpu(const CpuValidation& options, const Progress& progress) {
  const Lengths lengths = read_lengths(options.lengths);
  std::vector<ValidationPart> parts = validate_groups(options, lengths, progress);
  for (ValidationPart& part : validate_plans(options, lengths, progress)) parts.push_back(std::move(part));
  return parts;
}

}  // namespace counterpoise
