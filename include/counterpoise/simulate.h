// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "counterpoise/group_clock.h"
#include "counterpoise/law.h"
#include "counterpoise/window_costs.h"

namespace counterpoise {

// How a trainer's windows reach the groups.
enum class WindowOrder {
  kShuffle,  // windows are shuffled after cutting (Megatron-LM's GPT dataset): a group averages independent
             // windows
  kStream,   // consecutive windows of the stream (a streaming loader): neighbours share documents
};

enum class Regime {
  kFixed,  // the same windows for every CP; group g of G = ranks/cp takes windows g*cp .. g*cp + cp - 1
  kGrow,   // one window of cp x window tokens per group: documents stay whole longer, nothing is averaged
};

// Where groups wait for each other.
enum class Sync {
  kStep,        // once a step, at the gradient
  kMicroBatch,  // after every window (FSDP / ZeRO-3 gathering weights)
};

WindowOrder parse_window_order(std::string_view name);
Regime parse_regime(std::string_view name);
Sync parse_sync(std::string_view name);
std::string name_of(WindowOrder order);
std::string name_of(Regime regime);
std::string name_of(Sync sync);

// What one rank holds per token, for the memory columns: one layer's q, k, v, out (element_bytes each) and
// lse (4 bytes).
struct MemoryShape {
  int64_t heads = 32;
  int64_t kv_heads = 8;
  int64_t head_dim = 128;
  int64_t element_bytes = 2;

  int64_t bytes_per_token() const {
    return (2 * heads + 2 * kv_heads) * head_dim * element_bytes + 4 * heads;
  }
};

inline constexpr int64_t kFixedGroups = 8;  // groups of the numbers that do not shrink with CP

// Groups split by a sharder and a scheme, their ranks and messages on a clock, instead of the ideal split.
struct PlannedSplit {
  GroupSplit split;
  std::shared_ptr<const Prices> prices;
  std::string links = "none";  // what `prices` charges messages by, for reports
  int32_t ranks_per_node = 0;
};

struct SimulationConfig {
  int64_t ranks = 64;
  std::vector<int64_t> cp{1, 2, 4, 8, 16};  // ascending; ratios are to CP = 1 whether listed or not
  int64_t steps = 1000;
  PackOptions pack;
  DocumentOrder order = DocumentOrder::kSample;
  WindowOrder window_order = WindowOrder::kShuffle;
  Regime regime = Regime::kFixed;
  Sync sync = Sync::kStep;
  std::optional<PlannedSplit> planned;  // absent: the ideal split
  MemoryShape memory;
  bool laws = true;  // closed forms beside the simulated numbers, from the run's first windows
  uint64_t seed = 1;
  int threads = 0;  // 0: all cores; the numbers are the same for any value

  int64_t windows_per_group(int64_t c) const { return regime == Regime::kFixed ? c : 1; }
  // `cp`, with 1 before it where it is not listed.
  std::vector<int64_t> cp_with_baseline() const;
};

// An estimate with its 95 % confidence interval, from a jackknife over blocks of steps.
struct Estimate {
  double value = 0;
  double low = 0;
  double high = 0;

  double half_width() const { return (high - low) / 2; }
};

// Of the per-step ratio of the slowest to the fastest group; a step with a zero-cost group counts as
// infinite, and a statistic that falls on one is absent.
struct SpreadStats {
  std::optional<double> p50, p90, mean;
  std::optional<double> share_below_2;
};

struct ImbalanceStats {
  std::optional<double> p50, p90, mean;  // absent where a step has no cost at all
};

// What is read off the group times of many steps. Times are in the profile's unit.
struct GroupStatistics {
  int64_t groups = 0;
  int64_t steps = 0;
  double mean = 0;  // group time, over groups and steps
  std::optional<double>
      variance;              // within a step over its groups (divisor G - 1), averaged over steps; G >= 2
  std::optional<double> cv;  // sqrt(variance) / mean
  SpreadStats max_over_min;  // absent for G = 1
  ImbalanceStats max_over_mean;
  std::optional<double> slowdown_step;         // sum of max / sum of mean
  std::optional<double> slowdown_micro_batch;  // sum over windows m of max over groups / sum of mean
  double step_seconds = 0;                     // mean over steps of the slowest group, in the profile's unit
  double micro_batch_seconds = 0;              // the same with groups meeting after every window

  std::optional<double> slowdown(Sync sync) const {
    return sync == Sync::kStep ? slowdown_step : slowdown_micro_batch;
  }
  std::optional<double> wait_share(Sync sync) const;  // 1 - 1 / slowdown
  bool judged() const { return groups >= 4; }         // max/min of fewer groups says little
};

// What happens inside the groups of a planned split; sums over all groups and steps, absent where there is no
// work. Groups meet once a step. slowdown_step x uneven_slowdown x comm_slowdown is the step's time over that
// of the same compute spread evenly over all ranks with nothing to wait for.
struct WithinGroups {
  std::optional<double> imbalance;        // compute of a group's slowest rank / mean of its ranks
  std::optional<double> exposed_comm;     // share of ranks' time that they spend in waits
  std::optional<double> uneven_slowdown;  // group time with free messages / mean compute of its ranks
  std::optional<double> comm_slowdown;    // group time / group time with free messages
  double compute_mean = 0;                // of a rank in a step
  double sent_mean = 0;                   // bytes a rank sends in a step, one layer
  int64_t sent_most = 0;
  int64_t most_tokens = 0;  // on one rank at once
};

struct CpResult {
  int64_t cp = 1;
  GroupStatistics all;                     // G = ranks / cp groups
  std::optional<Estimate> variance_ratio;  // to CP = 1; absent when either variance is
  std::optional<Estimate> cv2_ratio;
  std::optional<LawRow> law;  // of the same groups; absent without laws
  GroupStatistics fixed;      // kFixedGroups groups of cp windows, whatever the CP
  std::optional<Estimate> fixed_variance_ratio;
  std::optional<WithinGroups> within;  // of a planned split
  // Held at once: window/cp, or the whole window when windows grow; in a planned split the most on one rank.
  int64_t tokens_per_rank = 0;
  int64_t bytes_per_rank = 0;
  PackAccount account;  // of the windows behind this result
};

struct SimulationResult {
  std::vector<CpResult> results;
  int64_t steps = 0;                    // simulated; fewer than asked for when a corpus ends
  double distinct_steps = 0;            // steps that no repetition of the corpus made
  std::optional<double> corpus_passes;  // how often the run went through the file; absent for a distribution
};

// Group times of many steps. With the ideal split each document piece's attention time is divided evenly over
// the ranks of its group. With config.planned a group's time is that of its slowest rank on the clock of
// simulate_plan: its windows in a row, or, where groups meet after every window, each window by itself;
// `piece_time` is then not used. The windows are the same. Throws kInfeasible (with the legal values) when a
// CP does not divide the ranks, kBadInput when the corpus has too few windows for one step. `progress` gets
// the share done, in [0, 1].
SimulationResult simulate(const Lengths& lengths, const PieceTime& piece_time, const SimulationConfig& config,
                          const std::function<void(double)>& progress = {});

// The checks of `simulate` alone, for callers that want the error before other work.
void check_config(const SimulationConfig& config);

}  // namespace counterpoise
