// SPDX-License-Identifier: Apache-2.0
#include "counterpoise/validate_laws.h"

#include <time.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "cost/validation_rows.h"
#include "counterpoise/error.h"
#include "counterpoise/law.h"
#include "counterpoise/law_sweep.h"
#include "counterpoise/length_summary.h"
#include "counterpoise/numbers.h"
#include "sim/law_monte_carlo.h"

namespace counterpoise {
namespace {

using Progress = std::function<void(const std::string&, double)>;

constexpr double kMostDeviation = 4.5;  // standard errors: of some 100 rows none is beyond by chance
constexpr size_t kWorstShown = 5;
constexpr int64_t kMostSteps = 10'000'000;

constexpr double kMostError = 0.01;  // of slowdown, max/mean and the share below two

// How far the laws' grids and merged cells may move a number, relative to it; docs/laws.md, tests bound it.
constexpr double kGridError = 2e-4, kQuantileError = 1e-3, kSpreadMeanError = 2e-3;

double thread_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// The laws and the drawn steps of one layout.
struct Pair {
  Law law;
  const SampledSteps* sampled;

  std::string label() const { return fmt::format("CP {}, {} groups", law.windows, law.groups); }
};

// A part that is judged against the standard errors of its rows.
ValidationPart drawn_part(const std::string& name, const std::string& unit = "") {
  ValidationPart part;
  part.name = name;
  part.unit = unit;
  part.most_deviation = kMostDeviation;
  return part;
}

// Appends `one` with what it is off, beyond `own_error` of the prediction, in standard errors.
void add_case(ValidationPart& part, std::vector<ValidationCase>& cases, ValidationCase one,
              double own_error) {
  const double beyond = std::max(0.0, std::abs(one.predicted - one.measured) - own_error);
  const double deviation = beyond == 0 ? 0 : beyond / one.standard_error.value_or(0);
  part.worst_deviation = std::max(part.worst_deviation.value_or(0), deviation);
  cases.push_back(std::move(one));
}

void finish(ValidationPart& part, std::vector<ValidationCase> cases) {
  std::vector<double> errors;
  for (const ValidationCase& one : cases) errors.push_back(part.error_of(one));
  part.test = summarise_errors(std::move(errors));
  part.worst = worst_cases(std::move(cases), kWorstShown, part.differences);
}

// The bound of 1 % holds where so many steps can tell 1 %; else the standard errors alone judge.
void bound_errors(ValidationPart& part, const std::vector<ValidationCase>& cases) {
  double widest = 0;
  for (const ValidationCase& one : cases)
    widest = std::max(widest, *one.standard_error / (part.differences ? 1 : one.measured));
  if (kMostDeviation * widest <= kMostError) part.most_worst = kMostError;
}

using Predicted = double (*)(const Law&);
using Sampled = SampledMean (*)(const SampledSteps&);

ValidationPart compare_means(const std::string& name, const std::vector<Pair>& pairs, Predicted predicted,
                             Sampled sampled, double own_error, bool bounded = false) {
  ValidationPart part = drawn_part(name);
  std::vector<ValidationCase> cases;
  for (const Pair& pair : pairs) {
    const SampledMean mean = sampled(*pair.sampled);
    const double value = predicted(pair.law);
    add_case(part, cases, {pair.label(), mean.value, value, mean.standard_error}, own_error * value);
  }
  if (bounded) bound_errors(part, cases);
  finish(part, std::move(cases));
  return part;
}

ValidationPart slowdown_part(const std::vector<Pair>& pairs) {
  ValidationPart part = compare_means(
      "law, slowdown", pairs, [](const Law& law) { return law.slowdown; },
      [](const SampledSteps& steps) { return steps.slowdown; }, kGridError, true);
  std::vector<double> gaussian, measured;
  for (const Pair& pair : pairs) {
    gaussian.push_back(pair.law.gaussian_slowdown);
    measured.push_back(pair.sampled->slowdown.value);
  }
  part.naive.push_back({"Gaussian extremes", summarise_errors(gaussian, measured)});
  return part;
}

ValidationPart max_over_mean_part(const std::vector<Pair>& pairs) {
  return compare_means(
      "law, max/mean", pairs, [](const Law& law) { return law.max_over_mean; },
      [](const SampledSteps& steps) { return steps.max_over_mean; }, kGridError, true);
}

// A share's error is binomial, under the law's own share; two steps of leeway where it is next to none or
// all.
ValidationPart share_part(const std::vector<Pair>& pairs) {
  ValidationPart part = drawn_part("law, P(max/min < 2)", "of steps");
  part.differences = true;
  std::vector<ValidationCase> cases;
  for (const Pair& pair : pairs) {
    const auto n = static_cast<double>(pair.sampled->steps);
    const double share = pair.law.share_below_2;
    const double error = std::sqrt(std::max(0.0, share * (1 - share)) / n);
    add_case(part, cases, {pair.label(), pair.sampled->share_below_2.value, share, error},
             kQuantileError * share + 2 / n);
  }
  bound_errors(part, cases);
  finish(part, std::move(cases));
  return part;
}

// Distribution-free: the sampled quantile's ranks move by the binomial deviation. Towards `predicted`, as
// the ratio's distribution is skewed. Nothing where both are infinite.
std::optional<ValidationCase> quantile_case(const Pair& pair, double q,
                                            const std::optional<double>& predicted) {
  const std::vector<double>& sorted = pair.sampled->max_over_min;
  const auto n = static_cast<double>(sorted.size());
  const auto at = [&](double rank) {
    return sorted[static_cast<size_t>(std::clamp(std::ceil(rank), 1.0, n)) - 1];
  };
  const double value = predicted.value_or(std::numeric_limits<double>::infinity());
  const double measured = at(q * n);
  if (std::isinf(value) && std::isinf(measured)) return std::nullopt;
  const double reach = kMostDeviation * std::sqrt(n * q * (1 - q)) * (value > measured ? 1 : -1);
  const double end = at(q * n + reach);
  const double error = std::isinf(measured) ? 0 : std::abs(end - measured) / kMostDeviation;
  return ValidationCase{fmt::format("{}, p{:.0f}", pair.label(), 100 * q), measured, value, error};
}

ValidationPart quantile_part(const std::vector<Pair>& pairs) {
  ValidationPart part = drawn_part("law, max/min p50 and p90");
  std::vector<ValidationCase> cases;
  for (const Pair& pair : pairs) {
    for (const auto& [q, predicted] :
         {std::pair(0.5, pair.law.max_over_min_p50), std::pair(0.9, pair.law.max_over_min_p90)}) {
      std::optional<ValidationCase> one = quantile_case(pair, q, predicted);
      if (one) add_case(part, cases, *one, kQuantileError * one->predicted);
    }
  }
  if (cases.empty()) part.unavailable = "max/min is infinite in the median step of every layout";
  finish(part, std::move(cases));
  return part;
}

// One tiny minimum can outweigh all other steps: a mean that is drawn to no better than kSettled has no error
// to speak of. Its row is shown and not judged.
ValidationPart spread_mean_part(const std::vector<Pair>& pairs) {
  constexpr double kSettled = 0.01;
  ValidationPart part = drawn_part("law, mean max/min");
  std::vector<ValidationCase> cases;
  for (const Pair& pair : pairs) {
    if (!pair.law.max_over_min_mean || !pair.sampled->max_over_min_mean) {
      part.unavailable = "a window can cost nothing, so the mean is infinite";
      return part;
    }
    const SampledMean drawn = *pair.sampled->max_over_min_mean;
    const double value = *pair.law.max_over_min_mean;
    const bool settled = drawn.standard_error <= kSettled * drawn.value;
    add_case(part, cases, {pair.label(), drawn.value, value, drawn.standard_error},
             settled ? kSpreadMeanError * value : std::numeric_limits<double>::infinity());
  }
  finish(part, std::move(cases));
  return part;
}

// Relative to the variance of one window, which is known exactly.
ValidationPart variance_part(const std::vector<Pair>& pairs) {
  ValidationPart part = drawn_part("law, variance", "of one window");
  const double of_one = pairs.front().law.variance * static_cast<double>(pairs.front().law.windows);
  if (!(of_one > 0)) {
    part.unavailable = "every window costs the same";
    return part;
  }
  std::vector<ValidationCase> cases;
  for (const Pair& pair : pairs) {
    const SampledMean variance = pair.sampled->within_step_variance;
    if (pair.law.groups < 2) continue;
    add_case(
        part, cases,
        {pair.label(), variance.value / of_one, pair.law.variance_ratio, variance.standard_error / of_one},
        1e-9 * pair.law.variance_ratio);
  }
  finish(part, std::move(cases));
  return part;
}

SimulationConfig stream_config(const LawValidation& options) {
  SimulationConfig config;
  config.cp = options.cp;
  config.ranks = std::max<int64_t>(64, 4 * options.cp.back());
  config.pack = options.pack;
  config.window_order = WindowOrder::kStream;
  config.seed = options.seed;
  config.threads = options.threads;
  config.laws = false;
  return config;
}

ValidationPart stream_part(const LawValidation& options, const Lengths& lengths, const PieceTime& time) {
  ValidationPart part;
  part.name = "law, variance in stream order";
  part.unit = "of CP = 1";
  part.most_worst = 0.10;
  SimulationConfig config = stream_config(options);
  const LawSweep laws = law_sweep(lengths, time, config);
  config.steps = std::max<int64_t>(500, 2 * laws.windows / config.ranks);
  ++config.seed;
  const SimulationResult simulated = simulate(lengths, time, config);
  std::vector<double> independent, measured;
  std::vector<ValidationCase> cases;
  for (size_t j = 0; j < laws.rows.size(); ++j) {
    const LawRow& row = laws.rows[j];
    const std::optional<Estimate>& ratio = simulated.results[j].variance_ratio;
    if (row.cp == 1 || !row.variance_ratio || !ratio) continue;
    cases.push_back({fmt::format("CP {}, {} groups", row.cp, row.all.groups), ratio->value,
                     *row.variance_ratio, ratio->half_width() / 1.96});
    independent.push_back(1 / static_cast<double>(row.cp));
    measured.push_back(ratio->value);
  }
  if (cases.empty()) part.unavailable = "no CP above 1, or every window costs the same";
  part.split = fmt::format("law of {} windows in stream order; {} steps of {} ranks of another stream",
                           format_count(laws.windows), format_count(simulated.steps), config.ranks);
  part.naive.push_back({"1/CP", summarise_errors(independent, measured)});
  finish(part, std::move(cases));
  return part;
}

std::vector<Law> laws_of(const std::vector<double>& costs, const LawValidation& options, double& longest,
                         const Progress& progress) {
  std::vector<Law> laws;
  const CostDistribution window = cost_distribution(costs);
  const auto count = static_cast<double>(options.cp.size() * options.groups.size());
  for (const int64_t cp : options.cp) {
    for (const int64_t groups : options.groups) {
      if (progress) progress("taking the laws", static_cast<double>(laws.size()) / count);
      const double begin = thread_seconds();
      laws.push_back(law_of(window, cp, groups));
      longest = std::max(longest, thread_seconds() - begin);
    }
  }
  return laws;
}

void check(const LawValidation& options) {
  if (options.steps < 1000)
    throw_error(ErrorKind::kUsage, "{} steps tell nothing about a law; draw at least 1000", options.steps);
  if (options.steps > kMostSteps)
    throw_error(ErrorKind::kUsage, "{} steps do not fit into memory; draw at most {}", options.steps,
                kMostSteps);
  CP_CHECK(!options.cp.empty() && !options.groups.empty() && options.windows >= 1);
}

void check_window(const LawValidation& options, const Lengths& lengths) {
  const double most = kMostLawDocuments * summarise(lengths).mean / static_cast<double>(options.windows);
  if (most > 0 && static_cast<double>(options.pack.window) > most)
    throw_error(ErrorKind::kUsage,
                "a window of {} tokens of {}: {} of them hold more than {:.0e} documents; at most {} tokens "
                "are possible",
                options.pack.window, lengths.source, options.windows, kMostLawDocuments,
                static_cast<int64_t>(most));
}

}  // namespace

std::vector<ValidationPart> validate_laws(const LawValidation& options, const Progress& progress) {
  check(options);
  const Lengths lengths = read_lengths(options.lengths);
  check_window(options, lengths);
  const ProfilePtr area = load_profile("area");
  const PieceTime time = piece_time_of(*area);
  const int64_t one = 1;
  const WindowSource source{lengths, options.pack, DocumentOrder::kSample, options.seed, options.threads};
  const std::vector<double> costs = window_costs(source, {&one, 1}, time, options.windows).column(0);

  double longest = 0;
  const std::vector<Law> laws = laws_of(costs, options, longest, progress);
  const std::vector<SampledSteps> sampled = sample_steps(costs, options.cp, options.groups, options.steps,
                                                         options.seed, options.threads, [&](double done) {
                                                           if (progress) progress("drawing steps", done);
                                                         });
  std::vector<Pair> pairs;
  for (size_t i = 0; i < laws.size(); ++i) pairs.push_back({laws[i], &sampled[i]});

  std::vector<ValidationPart> parts{slowdown_part(pairs), max_over_mean_part(pairs), share_part(pairs),
                                    quantile_part(pairs), spread_mean_part(pairs),   variance_part(pairs)};
  for (ValidationPart& part : parts) {
    part.split =
        fmt::format("exact law of {} windows of {} tokens of {}; {} steps drawn from the same windows",
                    format_count(static_cast<int64_t>(costs.size())), format_size(options.pack.window),
                    lengths.source, format_count(options.steps));
    part.note = fmt::format("the slowest law took {} of CPU time", format_seconds(longest));
  }
  if (progress) progress("simulating a stream", 0);
  parts.push_back(stream_part(options, lengths, time));
  return parts;
}

}  // namespace counterpoise
