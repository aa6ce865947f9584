// SPDX-License-Identifier: Apache-2.0
#include "sim/split_costs.h"

#include <algorithm>

#include "counterpoise/group_clock.h"
#include "counterpoise/parallel.h"

namespace counterpoise {
namespace {

double last_end(std::span<const RankClock> ranks) {
  double last = 0;
  for (const RankClock& rank : ranks) last = std::max(last, rank.end);
  return last;
}

// What the ranks of one group, or of many, did; added up group by group in a fixed order.
struct RankSums {
  double time = 0, free_time = 0;  // of groups: as priced, and with free messages
  double slowest_compute = 0, mean_compute = 0;
  double wait = 0, rank_time = 0;  // over ranks
  int64_t sent = 0, most_sent = 0, most_tokens = 0;

  void add(const RankSums& other) {
    time += other.time;
    free_time += other.free_time;
    slowest_compute += other.slowest_compute;
    mean_compute += other.mean_compute;
    wait += other.wait;
    rank_time += other.rank_time;
    sent += other.sent;
    most_sent = std::max(most_sent, other.most_sent);
    most_tokens = std::max(most_tokens, other.most_tokens);
  }
};

RankSums sums_of(std::span<const RankClock> ranks, std::span<const WindowWork> work, double free_time) {
  RankSums sums;
  sums.time = last_end(ranks);
  sums.free_time = free_time;
  for (const RankClock& rank : ranks) {
    sums.slowest_compute = std::max(sums.slowest_compute, rank.compute);
    sums.mean_compute += rank.compute / static_cast<double>(ranks.size());
    sums.wait += rank.wait;
    sums.rank_time += rank.end;
    sums.sent += rank.sent;
    sums.most_sent = std::max(sums.most_sent, rank.sent);
  }
  for (const WindowWork& window : work)
    sums.most_tokens =
        std::max(sums.most_tokens, *std::max_element(window.tokens.begin(), window.tokens.end()));
  return sums;
}

std::optional<double> ratio(double above, double below) {
  return below > 0 ? std::optional(above / below) : std::nullopt;
}

WithinGroups within_groups(const RankSums& sums, int64_t cp, size_t groups) {
  const double ranks = static_cast<double>(groups) * static_cast<double>(cp);
  WithinGroups within;
  within.imbalance = ratio(sums.slowest_compute, sums.mean_compute);
  within.exposed_comm = ratio(sums.wait, sums.rank_time);
  within.uneven_slowdown = ratio(sums.free_time, sums.mean_compute);
  within.comm_slowdown = ratio(sums.time, sums.free_time);
  within.compute_mean = sums.mean_compute / static_cast<double>(groups);
  within.sent_mean = static_cast<double>(sums.sent) / ranks;
  within.sent_most = sums.most_sent;
  within.most_tokens = sums.most_tokens;
  return within;
}

}  // namespace

SplitCosts split_costs(std::span<const std::vector<int64_t>> windows, int64_t cp, int64_t per_group,
                       int64_t groups, const PlannedSplit& planned, int threads) {
  const GroupClock clock(static_cast<int32_t>(cp), planned.split, *planned.prices);
  const size_t per = static_cast<size_t>(per_group), count = windows.size() / per;
  SplitCosts costs;
  costs.windows.resize(windows.size());
  costs.groups.resize(count);
  std::vector<RankSums> sums(count);
  parallel_for(static_cast<int64_t>(count), threads, [&](int64_t index) {
    const auto group = static_cast<size_t>(index);
    const auto first_rank = static_cast<int32_t>(index % groups * cp);
    std::vector<WindowWork> work;
    for (size_t m = 0; m < per; ++m) {
      work.push_back(clock.work(windows[group * per + m]));
      costs.windows[group * per + m] = last_end(clock.run({&work[m], 1}, first_rank));
    }
    const std::vector<RankClock> ranks = clock.run(work, first_rank);
    costs.groups[group] = last_end(ranks);
    sums[group] = sums_of(ranks, work, last_end(clock.run(work, first_rank, Messages::kFree)));
  });
  RankSums all;
  for (const RankSums& one : sums) all.add(one);
  costs.within = within_groups(all, cp, count);
  return costs;
}

}  // namespace counterpoise
