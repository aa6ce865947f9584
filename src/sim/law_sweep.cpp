// SPDX-License-Identifier: Apache-2.0
#include "counterpoise/law_sweep.h"

#include <algorithm>

#include "counterpoise/error.h"
#include "counterpoise/length_summary.h"
#include "counterpoise/parallel.h"

namespace counterpoise {
namespace {

// Window costs at each CP; where windows grow, each CP has windows of its own.
struct Columns {
  std::vector<int64_t> cp;
  std::vector<std::vector<double>> costs;
  PackAccount account;
};

Columns price(const Lengths& lengths, const PieceTime& piece_time, const SimulationConfig& config,
              int64_t windows) {
  Columns columns{config.cp_with_baseline(), {}, {}};
  WindowSource source{lengths, config.pack, config.order, config.seed, config.threads};
  if (config.regime == Regime::kFixed) {
    const WindowCosts costs = window_costs(source, columns.cp, piece_time, windows);
    for (size_t j = 0; j < columns.cp.size(); ++j) columns.costs.push_back(costs.column(j));
    columns.account = costs.account;
    return columns;
  }
  for (const int64_t& c : columns.cp) {
    source.pack.window = config.pack.window * c;
    const WindowCosts costs = window_costs(source, {&c, 1}, piece_time, std::max(windows / c, int64_t{1}));
    columns.costs.push_back(costs.column(0));
    columns.account = costs.account;
  }
  return columns;
}

int64_t default_windows(const Lengths& lengths, int64_t window) {
  constexpr double kDocuments = 3e7, kFewest = 8192;
  const double filled = kDocuments * summarise(lengths).mean / static_cast<double>(window);
  return static_cast<int64_t>(std::clamp(filled, kFewest, static_cast<double>(kLawWindows)));
}

// More windows exhaust memory.
constexpr int64_t kMostWindows = int64_t{1} << 24;

// Windows to price: those asked for, or as many as a law is taken from; fewer where windows are huge.
int64_t windows_to_price(const Lengths& lengths, const SimulationConfig& config,
                         std::optional<int64_t> asked) {
  const double mean = summarise(lengths).mean;
  const double longest = static_cast<double>(config.pack.window) *
                         static_cast<double>(config.regime == Regime::kGrow ? config.cp.back() : 1);
  // Lengths that are all zero are refused later, as what they are.
  const double fitting = mean > 0 ? kMostLawDocuments * mean / longest : kMostLawDocuments;
  if (fitting < static_cast<double>(config.ranks))
    throw_error(ErrorKind::kUsage,
                "--window {}: one step of {} ranks takes more than {:.0e} documents of {}; a window of {} "
                "tokens is possible",
                config.pack.window, config.ranks, kMostLawDocuments, lengths.source,
                static_cast<int64_t>(static_cast<double>(config.pack.window) * fitting /
                                     static_cast<double>(config.ranks)));
  const auto most = static_cast<int64_t>(std::min(fitting, static_cast<double>(kMostWindows)));
  if (!asked) return std::min(default_windows(lengths, config.pack.window), most);
  if (*asked < 1 || *asked > most)
    throw_error(ErrorKind::kUsage, "--windows: {}; from 1 to {} are possible", *asked, most);
  return *asked;
}

struct Laws {
  Law all;
  std::optional<Law> fixed;
};

Laws laws_at(std::span<const double> costs, int64_t windows, int64_t groups, bool stream) {
  if (stream) {
    Laws laws{law_of_stream(costs, windows, groups), {}};
    if (groups == kFixedGroups) {
      laws.fixed = laws.all;
    } else if (static_cast<int64_t>(costs.size()) >= windows * kFixedGroups) {
      laws.fixed = law_of_stream(costs, windows, kFixedGroups);
    }
    return laws;
  }
  const CostDistribution window = cost_distribution(costs);
  const CostDistribution mean = mean_of_windows(window, windows);
  const Law all = law_of(window, mean, windows, groups);
  return {all, groups == kFixedGroups ? all : law_of(window, mean, windows, kFixedGroups)};
}

std::optional<double> ratio(double value, double base) {
  return base > 0 ? std::optional(value / base) : std::nullopt;
}

double within_step_cv2(const Law& law) {
  return law.mean > 0 ? law.within_step_variance / (law.mean * law.mean) : 0;
}

LawRow row_of(int64_t cp, const Laws& laws, const Laws& at_one) {
  LawRow row{cp, laws.all, laws.fixed, {}, {}, {}};
  if (laws.fixed && at_one.fixed) {
    row.fixed_variance_ratio = ratio(laws.fixed->within_step_variance, at_one.fixed->within_step_variance);
  }
  if (laws.all.groups < 2) return row;
  row.variance_ratio = ratio(laws.all.within_step_variance, at_one.all.within_step_variance);
  row.cv2_ratio = ratio(within_step_cv2(laws.all), within_step_cv2(at_one.all));
  return row;
}

std::vector<LawSweep::Need> needs_of(const std::vector<double>& costs, int64_t ranks, double target,
                                     const SimulationConfig& config) {
  std::vector<LawSweep::Need> needs{{8, {}}, {64, {}}};
  if (ranks > 1 && ranks != 8 && ranks != 64) needs.push_back({ranks, {}});
  std::sort(needs.begin(), needs.end(), [](const auto& a, const auto& b) { return a.groups < b.groups; });
  const bool stream = config.window_order == WindowOrder::kStream;
  const CostDistribution window = cost_distribution(costs);
  parallel_for(static_cast<int64_t>(needs.size()), config.threads, [&](int64_t i) {
    LawSweep::Need& need = needs[static_cast<size_t>(i)];
    need.windows = stream ? windows_for_slowdown_of_stream(costs, need.groups, target)
                          : windows_for_slowdown(window, need.groups, target);
  });
  return needs;
}

}  // namespace

std::vector<LawRow> law_rows(std::span<const int64_t> cp, std::vector<std::vector<double>> costs,
                             const SimulationConfig& config) {
  CP_CHECK(!cp.empty() && cp.front() == 1 && costs.size() == cp.size());
  std::vector<Laws> laws(cp.size());
  parallel_for(static_cast<int64_t>(laws.size()), config.threads, [&](int64_t i) {
    const auto j = static_cast<size_t>(i);
    const int64_t per_group = config.windows_per_group(cp[j]);
    // A group's time is the sum over its windows: the mean of as many, each so many times as costly.
    for (double& cost : costs[j]) cost *= static_cast<double>(per_group);
    laws[j] = laws_at(costs[j], per_group, config.ranks / cp[j], config.window_order == WindowOrder::kStream);
  });
  std::vector<LawRow> rows;
  for (size_t j = 0; j < cp.size(); ++j) rows.push_back(row_of(cp[j], laws[j], laws.front()));
  return rows;
}

LawSweep law_sweep(const Lengths& lengths, const PieceTime& piece_time, const SimulationConfig& config,
                   std::optional<double> target, std::optional<int64_t> windows) {
  check_config(config);
  Columns columns = price(lengths, piece_time, config, windows_to_price(lengths, config, windows));
  const auto priced = static_cast<int64_t>(columns.costs.front().size());
  if (priced < config.ranks) {
    throw_error(ErrorKind::kBadInput,
                "{}: {} windows of {} tokens were cut but one step of {} ranks takes {}; "
                "use fewer --ranks, a smaller --window, more --windows or --order sample",
                lengths.source, priced, config.pack.window, config.ranks, config.ranks);
  }
  LawSweep sweep;
  sweep.windows = priced;
  sweep.account = columns.account;
  if (target && config.regime == Regime::kFixed) {
    sweep.needs = needs_of(columns.costs.front(), config.ranks, *target, config);
  }
  sweep.rows = law_rows(columns.cp, std::move(columns.costs), config);
  sweep.rows.erase(sweep.rows.begin(), sweep.rows.end() - static_cast<ptrdiff_t>(config.cp.size()));
  return sweep;
}

}  // namespace counterpoise
