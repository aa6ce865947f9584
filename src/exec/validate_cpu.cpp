// SPDX-License-Identifier: Apache-2.0
#include "counterpoise/validate_cpu.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>

#include "cost/validation_rows.h"
#include "counterpoise/calibrate_cpu.h"
#include "counterpoise/error.h"
#include "counterpoise/lengths.h"
#include "counterpoise/random.h"
#include "counterpoise/shard.h"
#include "exec/plan_calls.h"

namespace counterpoise {
namespace {

constexpr int64_t kGroups = 24;  // per round and CP degree
constexpr int kMostRounds = 20;
constexpr size_t kWorstShown = 5;

using Progress = std::function<void(const std::string&, double)>;

double wall_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// One thing to be timed and what it was predicted to take: some kernel calls one after another.
struct Trial {
  std::string label;
  std::vector<TileCall> calls;
  NaiveInput naive;
  double predicted = 0;
  std::vector<double> times;
};

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

// Runs all trials in random order, twice at least, until the time is used up.
void time_trials(std::vector<Trial*> trials, TimedKernel& kernel, double budget, RandomStream& random,
                 const Progress& progress, const std::string& what) {
  const double begin = wall_seconds();
  for (int round = 0; round < kMostRounds; ++round) {
    const double spent = wall_seconds() - begin;
    if (round >= 2 && spent * (round + 1) / round > budget) break;
    if (progress) progress(what, std::min(1.0, spent / budget));
    random.shuffle(std::span(trials));
    for (Trial* trial : trials) {
      double sum = 0;
      for (const TileCall& call : trial->calls) sum += kernel.run(call.tiles, Direction::kForward);
      trial->times.push_back(sum);
    }
  }
}

// Naive predictors are fitted to every other trial and tested, as the profile is, on the rest.
ValidationPart compare(const std::string& name, const std::string& split, std::vector<Trial>& trials) {
  ValidationPart part;
  part.name = name;
  part.split = split;
  std::vector<double> predicted, measured, repeats;
  std::vector<NaiveInput> fit, test;
  std::vector<ValidationCase> cases;
  for (size_t i = 0; i < trials.size(); ++i) {
    Trial& trial = trials[i];
    trial.naive.seconds = median(trial.times);
    (i % 2 == 0 ? fit : test).push_back(trial.naive);
    predicted.push_back(trial.predicted);
    measured.push_back(trial.naive.seconds);
    repeats.push_back(std::abs(trial.times[1] / trial.times[0] - 1));
    cases.push_back({trial.label, trial.naive.seconds, trial.predicted});
  }
  part.test = summarise_errors(predicted, measured);
  part.naive = naive_errors(fit, test);
  part.worst = worst_cases(std::move(cases), kWorstShown);
  double mean = 0, mean_predicted = 0, residual = 0, spread = 0;
  for (size_t i = 0; i < measured.size(); ++i) {
    mean += measured[i] / static_cast<double>(measured.size());
    mean_predicted += predicted[i] / static_cast<double>(measured.size());
  }
  for (size_t i = 0; i < measured.size(); ++i) {
    residual += std::pow(predicted[i] - measured[i], 2);
    spread += std::pow(measured[i] - mean, 2);
  }
  part.note =
      fmt::format("R2 {:.3f}; mean predicted/measured {:.3f}; repeats differ by {:.1f} % (median)",
                  spread > 0 ? 1 - residual / spread : 0, mean_predicted / mean, 100 * median(repeats));
  part.most_median = 0.05;
  return part;
}

// Windows of a stream of documents, cut where they are full.
class WindowStream {
 public:
  WindowStream(const Lengths& lengths, int64_t window, RandomStream& random)
      : sampler_(lengths), window_(window), random_(random) {}

  std::vector<int64_t> next() {
    std::vector<int64_t> pieces;
    for (int64_t room = window_; room > 0;) {
      for (int tries = 0; left_ == 0; ++tries) {
        if (tries > 100000)
          throw_error(ErrorKind::kBadInput, "the documents have no tokens to validate with");
        left_ = sampler_.draw(random_);
      }
      const int64_t piece = std::min(left_, room);
      pieces.push_back(piece);
      left_ -= piece;
      room -= piece;
    }
    return pieces;
  }

 private:
  LengthSampler sampler_;
  int64_t window_;
  RandomStream& random_;
  int64_t left_ = 0;
};

void add_documents(NaiveInput& naive, const std::vector<int64_t>& documents, double heads) {
  for (const int64_t document : documents) {
    const double length = static_cast<double>(document);
    naive.documents_length += heads * length;
    naive.documents_length_squared += heads * length * length;
  }
}

Trial group_trial(WindowStream& stream, int64_t cp, int64_t group, const CostShape& shape,
                  const CostModel& model) {
  Trial trial;
  trial.label = fmt::format("group {} at cp {}", group, cp);
  trial.naive.cp = static_cast<double>(cp);
  for (int64_t w = 0; w < cp; ++w) {
    const std::vector<int64_t> documents = stream.next();
    add_documents(trial.naive, documents, 1);
    trial.calls.push_back(zigzag_call(documents, cp, (group + w) % cp, shape));
    trial.predicted += model.call_seconds(trial.calls.back().shapes);
  }
  return trial;
}

// The largest whole-document call of the calibration grid, timed again among the trials: how much the machine
// itself changed speed since the profile was frozen. Predictions are not corrected by it.
class Canary {
 public:
  Canary(const KernelProfile& profile, int64_t tokens) {
    trial_.label = fmt::format("1 x {} tokens, rank 0 of 1", tokens);
    trial_.calls.push_back(zigzag_call({tokens}, 1, 0, profile.shape()));
    const nlohmann::json record = nlohmann::json::parse(profile.info().calibration);
    for (const auto& entry : record["forward"]["grid"])
      if (entry[0] == trial_.label) calibrated_ = entry[1].get<double>();
    CP_CHECK(calibrated_ > 0);
  }
  Trial* trial() { return &trial_; }
  std::string sentence() const {
    return fmt::format("; a call of the calibration took {:+.1f} % when timed again",
                       100 * (median(trial_.times) / calibrated_ - 1));
  }

 private:
  Trial trial_;
  double calibrated_ = 0;
};

std::vector<ValidationPart> group_parts(const CpuValidation& options, const Lengths& lengths,
                                        const Progress& progress) {
  CalibrationOptions kernel_options;
  kernel_options.max_tokens = options.window;
  kernel_options.budget_seconds = options.budget_seconds * 0.25;
  kernel_options.seed = options.seed;
  kernel_options.isa = options.isa;
  const KernelProfilePtr profile = calibrate_cpu(kernel_options, progress);
  TimedKernel kernel(kernel_options, options.window);
  RandomStream random(options.seed, 77);
  WindowStream stream(lengths, options.window, random);
  std::vector<std::pair<int64_t, std::vector<Trial>>> sets;
  for (const int64_t cp : {1, 2, 4, 8}) {
    std::vector<Trial>& trials = sets.emplace_back(cp, std::vector<Trial>{}).second;
    for (int64_t group = 0; group < kGroups; ++group)
      trials.push_back(group_trial(stream, cp, group, profile->shape(), profile->model()));
  }
  std::vector<Trial*> all;
  for (auto& [cp, trials] : sets)
    for (Trial& trial : trials) all.push_back(&trial);
  Canary canary(*profile, kernel_options.max_tokens);
  all.push_back(canary.trial());
  time_trials(all, kernel, options.budget_seconds * 0.35, random, progress, "timing groups");
  std::vector<ValidationPart> parts;
  for (auto& [cp, trials] : sets)
    parts.push_back(compare(fmt::format("this CPU, groups at cp {}", cp),
                            fmt::format("profile {} measured first on other shapes; group times of {}",
                                        profile_hash(*profile), options.lengths),
                            trials));
  for (ValidationPart& part : parts) part.note += canary.sentence();
  return parts;
}

// Rank times of the plan of one window: every attend op is a kernel call.
void add_rank_trials(std::vector<Trial>& trials, const std::string& sharder, const std::string& scheme,
                     int32_t cp, const std::vector<int64_t>& documents, const HeadShape& heads,
                     const CostModel& model) {
  for (int32_t rank = 0; rank < cp; ++rank) {
    Trial trial;
    trial.label = fmt::format("{} x {}, rank {} of {}", sharder, scheme, rank, cp);
    trial.naive.cp = cp;
    add_documents(trial.naive, documents, static_cast<double>(heads.heads));
    trial.calls = plan_calls(sharder, scheme, cp, rank, documents, heads);
    for (const TileCall& call : trial.calls) trial.predicted += model.call_seconds(call.shapes);
    if (trial.predicted > 0) trials.push_back(std::move(trial));
  }
}

std::vector<ValidationPart> plan_parts(const CpuValidation& options, const Lengths& lengths,
                                       const Progress& progress) {
  constexpr int32_t kCp = 4;
  CalibrationOptions kernel_options;
  kernel_options.heads = {8, 4, 64, 0, 0};
  kernel_options.max_tokens = std::min<int64_t>(options.window, 2048);
  kernel_options.budget_seconds = options.budget_seconds * 0.2;
  kernel_options.seed = options.seed;
  kernel_options.isa = options.isa;
  const KernelProfilePtr profile = calibrate_cpu(kernel_options, progress);
  TimedKernel kernel(kernel_options, kernel_options.max_tokens);
  RandomStream random(options.seed, 78);
  const std::vector<int64_t> documents = WindowStream(lengths, kernel_options.max_tokens, random).next();

  std::vector<std::pair<std::string, std::vector<Trial>>> sets;
  for (const SharderInfo& sharder : sharders())
    add_rank_trials(sets.emplace_back("sharder " + sharder.name, std::vector<Trial>{}).second, sharder.name,
                    "all_gather", kCp, documents, kernel_options.heads, profile->model());
  for (const SchemeInfo& scheme : schemes())
    add_rank_trials(sets.emplace_back("scheme " + scheme.name, std::vector<Trial>{}).second, "zigzag",
                    scheme.name, kCp, documents, kernel_options.heads, profile->model());
  std::vector<Trial*> all;
  for (auto& [name, trials] : sets)
    for (Trial& trial : trials) all.push_back(&trial);
  Canary canary(*profile, kernel_options.max_tokens);
  all.push_back(canary.trial());
  time_trials(all, kernel, options.budget_seconds * 0.2, random, progress, "timing plans");
  std::vector<ValidationPart> parts;
  for (auto& [name, trials] : sets) {
    parts.push_back(compare("this CPU, " + name,
                            fmt::format("profile {} measured first; rank times of one window of {}",
                                        profile_hash(*profile), options.lengths),
                            trials));
    parts.back().note += canary.sentence();
    parts.back().most_median = 0.10;  // ranks of one window are few, and their calls are small
  }
  return parts;
}

}  // namespace

std::vector<ValidationPart> validate_cpu(const CpuValidation& options, const Progress& progress) {
  const Lengths lengths = read_lengths(options.lengths);
  std::vector<ValidationPart> parts = group_parts(options, lengths, progress);
  for (ValidationPart& part : plan_parts(options, lengths, progress)) parts.push_back(std::move(part));
  return parts;
}

}  // namespace counterpoise
