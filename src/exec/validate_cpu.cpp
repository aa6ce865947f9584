// SPDX-License-Identifier: Apache-2.0
#include "counterpoise/validate_cpu.h"

#include <algorithm>

#include "counterpoise/calibrate_cpu.h"
#include "counterpoise/error.h"
#include "counterpoise/lengths.h"
#include "counterpoise/random.h"
#include "exec/frozen_profile.h"
#include "exec/plan_calls.h"
#include "exec/timing.h"
#include "exec/validate_plans.h"
#include "exec/validation_trials.h"
#include "exec/window_stream.h"

namespace counterpoise {
namespace {

constexpr int64_t kGroups = 24;  // per round and CP degree
constexpr int kLeastRounds = 2, kMostRounds = 20;
constexpr size_t kDriftEvery = 12;  // groups

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

// Rounds over all groups of all degrees in random order, until the time is used up.
void time_groups(std::vector<std::vector<GroupTrial>>& sets, TimedKernel& kernel, FrozenProfile& profile,
                 double budget, RandomStream& random, const Progress& progress) {
  std::vector<GroupTrial*> order;
  for (std::vector<GroupTrial>& set : sets)
    for (GroupTrial& one : set) order.push_back(&one);
  const double begin = wall_seconds();
  for (int round = 0; round < kMostRounds; ++round) {
    const double spent = wall_seconds() - begin;
    if (round >= kLeastRounds && spent * (round + 1) / round > budget) break;
    if (progress) progress("timing groups", std::min(1.0, spent / budget));
    random.shuffle(std::span(order));
    for (size_t i = 0; i < order.size(); ++i) {
      double sum = 0;
      for (const TileCall& call : order[i]->calls)
        sum += kernel.run_undisturbed(call.tiles, Direction::kForward);
      order[i]->trial.times.push_back(sum);
      if (i % kDriftEvery == 0) profile.time_again();
    }
  }
}

std::vector<ValidationPart> validate_groups(const CpuValidation& options, const Lengths& lengths,
                                            const Progress& progress) {
  CalibrationOptions kernel_options;
  kernel_options.max_tokens = options.window;
  kernel_options.budget_seconds = options.budget_seconds * 0.2;
  kernel_options.seed = options.seed;
  kernel_options.isa = options.isa;
  FrozenProfile profile(kernel_options, progress);
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
  time_groups(sets, kernel, profile, options.budget_seconds * 0.25, random, progress);
  std::vector<ValidationPart> parts;
  for (size_t i = 0; i < sets.size(); ++i) {
    std::vector<Trial> trials;
    for (GroupTrial& one : sets[i]) trials.push_back(std::move(one.trial));
    parts.push_back(compare_trials(fmt::format("this CPU, groups at cp {}", degrees[i]),
                                   fmt::format("profile {} measured first on other shapes; group times of {}",
                                               profile_hash(*profile), options.lengths),
                                   trials));
    parts.back().most_median = 0.05;
    add_drift(parts.back(), profile.drift());
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
