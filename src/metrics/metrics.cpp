// SPDX-License-Identifier: Apache-2.0
#include "counterpoise/metrics.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace counterpoise {
namespace {

double total(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

std::optional<double> ratio(double above, double below) {
  return below > 0 ? std::optional(above / below) : std::nullopt;
}

}  // namespace

std::optional<double> imbalance(std::span<const double> loads) {
  if (loads.empty()) return std::nullopt;
  return ratio(*std::max_element(loads.begin(), loads.end()),
               total(loads) / static_cast<double>(loads.size()));
}

std::optional<double> spread(std::span<const double> loads) {
  if (loads.empty()) return std::nullopt;
  return ratio(*std::max_element(loads.begin(), loads.end()), *std::min_element(loads.begin(), loads.end()));
}

std::optional<double> coefficient_of_variation(std::span<const double> loads) {
  if (loads.size() < 2) return std::nullopt;
  const double mean = total(loads) / static_cast<double>(loads.size());
  double squares = 0;
  for (const double load : loads) squares += (load - mean) * (load - mean);
  return ratio(std::sqrt(squares / static_cast<double>(loads.size() - 1)), mean);
}

std::vector<RankTime> rank_times(const Timeline& timeline) {
  std::vector<RankTime> ranks(static_cast<size_t>(timeline.ranks));
  for (const Span& span : timeline.spans) {
    RankTime& rank = ranks[static_cast<size_t>(span.rank)];
    switch (span.kind) {
      case SpanKind::kAttend:
      case SpanKind::kMerge:
        rank.compute += span.seconds();
        break;
      case SpanKind::kWait:
        rank.wait += span.seconds();
        break;
      case SpanKind::kTransfer:
        rank.transfer += span.seconds();
        break;
      case SpanKind::kReduce:
        rank.before_reduce = span.begin;
        rank.reduce = span.seconds();
        break;
    }
  }
  return ranks;
}

std::vector<double> group_times(const Timeline& timeline, int32_t cp) {
  std::vector<double> groups(static_cast<size_t>(timeline.ranks / cp), 0.0);
  const std::vector<RankTime> ranks = rank_times(timeline);
  for (size_t rank = 0; rank < ranks.size(); ++rank) {
    double& group = groups[rank / static_cast<size_t>(cp)];
    group = std::max(group, ranks[rank].before_reduce);
  }
  return groups;
}

std::optional<double> slowdown(std::span<const std::vector<double>> steps) {
  double slowest = 0, means = 0;
  for (const std::vector<double>& groups : steps) {
    if (groups.empty()) continue;
    slowest += *std::max_element(groups.begin(), groups.end());
    means += total(groups) / static_cast<double>(groups.size());
  }
  return ratio(slowest, means);
}

std::optional<double> exposed_comm(std::span<const RankTime> ranks) {
  double waited = 0, all = 0;
  for (const RankTime& rank : ranks) {
    waited += rank.wait;
    all += rank.before_reduce;
  }
  return ratio(waited, all);
}

}  // namespace counterpoise
