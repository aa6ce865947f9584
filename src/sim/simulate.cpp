// SPDX-License-Identifier: Apache-2.0
#include "counterpoise/simulate.h"

#include <algorithm>
#include <numeric>

#include "counterpoise/error.h"
#include "counterpoise/law_sweep.h"
#include "counterpoise/parallel.h"
#include "sim/split_costs.h"
#include "sim/step_series.h"

namespace counterpoise {
namespace {

// The order the groups meet `windows` windows in: one shuffle of the run. Empty: the stream's own order.
std::vector<uint32_t> meeting_order(int64_t windows, const SimulationConfig& config) {
  if (config.window_order == WindowOrder::kStream) return {};
  std::vector<uint32_t> order(static_cast<size_t>(windows));
  std::iota(order.begin(), order.end(), 0u);
  constexpr uint64_t kShufflePart = ~uint64_t{0};
  RandomStream(config.seed, kShufflePart).shuffle(std::span(order));
  return order;
}

// Whole steps of windows in the order the groups meet them.
WindowCosts ordered_windows(WindowCosts costs, int64_t windows, const SimulationConfig& config) {
  const size_t columns = costs.cp.size();
  costs.values.resize(static_cast<size_t>(windows) * columns);
  const std::vector<uint32_t> order = meeting_order(windows, config);
  if (order.empty()) return costs;
  std::vector<double> shuffled(costs.values.size());
  constexpr int64_t kPart = 1 << 16;
  parallel_for((windows + kPart - 1) / kPart, config.threads, [&](int64_t part) {
    const size_t end = static_cast<size_t>(std::min((part + 1) * kPart, windows));
    for (size_t w = static_cast<size_t>(part * kPart); w < end; ++w)
      std::copy_n(costs.values.data() + order[w] * columns, columns, shuffled.data() + w * columns);
  });
  costs.values = std::move(shuffled);
  return costs;
}

std::vector<std::vector<int64_t>> ordered_windows(std::vector<std::vector<int64_t>> windows, int64_t count,
                                                  const SimulationConfig& config) {
  windows.resize(static_cast<size_t>(count));
  const std::vector<uint32_t> order = meeting_order(count, config);
  if (order.empty()) return windows;
  std::vector<std::vector<int64_t>> shuffled(windows.size());
  for (size_t w = 0; w < shuffled.size(); ++w) shuffled[w] = std::move(windows[order[w]]);
  return shuffled;
}

int64_t whole_steps(const WindowSource& source, const SimulationConfig& config, int64_t windows,
                    int64_t windows_per_step) {
  if (windows < windows_per_step)
    throw_error(ErrorKind::kBadInput,
                "{}: the corpus ends after {} windows of {} tokens but one step of {} ranks needs {}; use "
                "fewer --ranks, "
                "a smaller --window or --order sample",
                source.lengths.source, windows, source.pack.window, config.ranks, windows_per_step);
  return windows / windows_per_step;
}

// Whole steps of windows priced at each CP of a sweep, in the order groups meet them.
struct PricedRun {
  WindowCosts costs;  // of windows by themselves
  std::vector<SplitCosts>
      split;  // by column; empty with the ideal split, where a group's time is its windows' sum
  int64_t steps = 0;
};

PricedRun ideal_run(const WindowSource& source, const PieceTime& piece_time, const SimulationConfig& config,
                    std::span<const int64_t> cp, int64_t windows_per_step) {
  PricedRun run;
  run.costs = window_costs(source, cp, piece_time, windows_per_step * config.steps);
  run.steps = whole_steps(source, config, run.costs.windows(), windows_per_step);
  run.costs = ordered_windows(std::move(run.costs), run.steps * windows_per_step, config);
  return run;
}

PricedRun planned_run(const WindowSource& source, const SimulationConfig& config, std::span<const int64_t> cp,
                      int64_t windows_per_step) {
  WindowLengths found = window_lengths(source, windows_per_step * config.steps);
  PricedRun run;
  run.steps = whole_steps(source, config, static_cast<int64_t>(found.windows.size()), windows_per_step);
  const std::vector<std::vector<int64_t>> windows =
      ordered_windows(std::move(found.windows), run.steps * windows_per_step, config);
  run.costs = {{cp.begin(), cp.end()}, std::vector<double>(windows.size() * cp.size()), found.account, false};
  for (size_t j = 0; j < cp.size(); ++j) {
    PlannedSplit planned = *config.planned;
    if (cp[j] <
        config.cp.front()) {  // the baseline nobody asked for: no cap or inner level of others binds it
      planned.split.shard_options.token_cap = 0;
      planned.split.scheme_options.inner = 0;
    }
    run.split.push_back(split_costs(windows, cp[j], config.windows_per_group(cp[j]), config.ranks / cp[j],
                                    planned, config.threads));
    for (size_t w = 0; w < windows.size(); ++w) run.costs.values[w * cp.size() + j] = run.split[j].windows[w];
  }
  return run;
}

// Steps of `groups` groups of `windows_per_group` windows each, taken one after another from the run.
StepSeries step_series(const PricedRun& run, size_t column, int64_t groups, int64_t windows_per_group) {
  StepSeries series;
  series.groups = groups;
  const WindowCosts& costs = run.costs;
  const size_t per_step = static_cast<size_t>(groups * windows_per_group);
  const size_t columns = costs.cp.size(), windows = static_cast<size_t>(costs.windows());
  std::vector<double> times(per_step);
  for (size_t begin = 0; begin + per_step <= windows; begin += per_step) {
    for (size_t i = 0; i < per_step; ++i) times[i] = costs.values[(begin + i) * columns + column];
    if (run.split.empty()) {
      series.add_step(times, windows_per_group);
    } else {
      series.add_step(
          times, std::span(run.split[column].groups)
                     .subspan(begin / static_cast<size_t>(windows_per_group), static_cast<size_t>(groups)));
    }
  }
  return series;
}

// The run's first windows, whose laws stand beside it: 65536 are enough for a per cent and little beside a
// long simulation.
std::vector<double> law_windows(const WindowCosts& costs, size_t column, const SimulationConfig& config) {
  std::vector<double> windows = costs.column(column);
  windows.resize(std::min(windows.size(), std::max(size_t{65536}, static_cast<size_t>(config.ranks))));
  return windows;
}

struct CpSeries {
  StepSeries all, fixed;
  std::vector<double> law_windows;
  PackAccount account;
  std::optional<WithinGroups> within;
};

// One pass over the stream prices every CP of `cp`; then each is read off in groups.
void add_series(const WindowSource& source, const PieceTime& piece_time, const SimulationConfig& config,
                std::span<const int64_t> cp, std::vector<CpSeries>& series, int64_t& steps) {
  const int64_t windows_per_step = config.ranks / cp.front() * config.windows_per_group(cp.front());
  const PricedRun run = config.planned ? planned_run(source, config, cp, windows_per_step)
                                       : ideal_run(source, piece_time, config, cp, windows_per_step);
  steps = std::min(steps, run.steps);
  std::vector<CpSeries> parts(cp.size());
  parallel_for(static_cast<int64_t>(cp.size()), config.threads, [&](int64_t j) {
    const size_t column = static_cast<size_t>(j);
    const int64_t per_group = config.windows_per_group(cp[column]);
    const int64_t groups = config.ranks / cp[column];
    parts[column] = {
        step_series(run, column, groups, per_group), step_series(run, column, kFixedGroups, per_group),
        config.laws ? law_windows(run.costs, column, config) : std::vector<double>(), run.costs.account,
        run.split.empty() ? std::nullopt : std::optional(run.split[column].within)};
  });
  std::move(parts.begin(), parts.end(), std::back_inserter(series));
}

// What the closed forms say of the same groups, one row per CP of the sweep; none where they are not asked
// for.
std::vector<LawRow> laws_beside(const std::vector<int64_t>& sweep, std::vector<CpSeries>& series,
                                const SimulationConfig& config) {
  if (!config.laws) return {};
  std::vector<std::vector<double>> costs;
  for (CpSeries& one : series) costs.push_back(std::move(one.law_windows));
  return law_rows(sweep, std::move(costs), config);
}

std::optional<double> passes_over(const Lengths& lengths, const PackAccount& account) {
  const int64_t tokens = std::accumulate(lengths.corpus.begin(), lengths.corpus.end(), int64_t{0});
  if (tokens == 0) return std::nullopt;
  return static_cast<double>(account.tokens) / static_cast<double>(tokens);
}

void add_memory(CpResult& result, const SimulationConfig& config) {
  const int64_t c = result.cp, window = config.pack.window;
  result.tokens_per_rank = result.within                     ? result.within->most_tokens
                           : config.regime == Regime::kFixed ? (window + c - 1) / c
                                                             : window;
  result.bytes_per_rank = result.tokens_per_rank * config.memory.bytes_per_token();
}

std::string divisors(int64_t n) {
  std::string text;
  for (int64_t d = 1; d <= n; ++d)
    if (n % d == 0) text += (text.empty() ? "" : ", ") + std::to_string(d);
  return text;
}

}  // namespace

std::vector<int64_t> SimulationConfig::cp_with_baseline() const {
  std::vector<int64_t> sweep = cp;
  if (std::find(sweep.begin(), sweep.end(), 1) == sweep.end()) sweep.insert(sweep.begin(), 1);
  return sweep;
}

void check_config(const SimulationConfig& config) {
  if (config.ranks < 1) throw_error(ErrorKind::kUsage, "--ranks: {}; at least 1 is needed", config.ranks);
  if (config.steps < 1) throw_error(ErrorKind::kUsage, "--steps: {}; at least 1 is needed", config.steps);
  if (config.cp.empty()) throw_error(ErrorKind::kUsage, "--cp: no degree given");
  if (!std::is_sorted(config.cp.begin(), config.cp.end(), std::less_equal<>()))
    throw_error(ErrorKind::kUsage, "--cp: degrees must ascend and differ, as in 1,2,4,8");
  for (const int64_t c : config.cp)
    if (c < 1 || config.ranks % c != 0)
      throw_error(ErrorKind::kInfeasible,
                  "--cp {}: does not divide {} ranks into whole groups; legal values are {}", c, config.ranks,
                  divisors(config.ranks));
  if (config.steps > (int64_t{1} << 31) / config.ranks)
    throw_error(ErrorKind::kUsage, "--steps {} x --ranks {}: more than 2^31 windows; use at most {} steps",
                config.steps, config.ranks, (int64_t{1} << 31) / config.ranks);
}

SimulationResult simulate(const Lengths& lengths, const PieceTime& piece_time, const SimulationConfig& config,
                          const std::function<void(double)>& progress) {
  check_config(config);
  if (config.planned)
    for (const int64_t c : config.cp)  // refuses pairs that cannot be before any work
      GroupClock(static_cast<int32_t>(c), config.planned->split, *config.planned->prices);
  SimulationResult result;
  result.steps = config.steps;
  const std::vector<int64_t> sweep = config.cp_with_baseline();
  std::vector<CpSeries> series;
  WindowSource source{lengths, config.pack, config.order, config.seed, config.threads};
  if (config.regime == Regime::kFixed) {
    add_series(source, piece_time, config, sweep, series, result.steps);
  } else {
    for (const int64_t& c : sweep) {
      source.pack.window = config.pack.window * c;
      add_series(source, piece_time, config, {&c, 1}, series, result.steps);
      if (progress) progress(static_cast<double>(series.size()) / static_cast<double>(sweep.size()));
    }
  }
  const std::vector<LawRow> laws = laws_beside(sweep, series, config);
  result.corpus_passes = passes_over(lengths, series.front().account);
  const bool repeats = config.order == DocumentOrder::kShuffle && result.corpus_passes;
  const double repetition = repeats ? std::max(1.0, *result.corpus_passes) : 1.0;
  result.distinct_steps = static_cast<double>(result.steps) / repetition;
  for (size_t j = sweep.size() - config.cp.size(); j < sweep.size(); ++j) {
    CpResult& r = result.results.emplace_back();
    r.cp = sweep[j];
    r.account = series[j].account;
    r.within = series[j].within;
    r.all = statistics(series[j].all);
    if (!laws.empty()) r.law = laws[j];
    r.fixed = statistics(series[j].fixed);
    r.variance_ratio = variance_ratio(series[j].all, series.front().all, false, repetition);
    r.cv2_ratio = variance_ratio(series[j].all, series.front().all, true, repetition);
    r.fixed_variance_ratio = variance_ratio(series[j].fixed, series.front().fixed, false, repetition);
    add_memory(r, config);
  }
  return result;
}

}  // namespace counterpoise
