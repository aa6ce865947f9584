// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <cmath>

#include "counterpoise/error.h"
#include "counterpoise/length_summary.h"
#include "counterpoise/numbers.h"
#include "lengths/weighted.h"

namespace counterpoise {
namespace {

constexpr double kQuantiles[] = {0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.999, 1};
constexpr int64_t kTailDocuments = 25;      // fewest order statistics for Hill's estimate ...
constexpr int64_t kDocumentsForTail = 250;  // ... which are then at most a tenth of the documents
constexpr double kCapShare = 0.1;           // this share of the tail at exactly the maximum: the data was cut
constexpr double kLightTail = 10;           // an index above: bounded, or falling faster than a power

using Bins = std::vector<LengthBin>;

void add_moments(const Bins& bins, double total, LengthSummary& summary) {
  for (const LengthBin& bin : bins) {
    const BinMoments moments = moments_of(bin);
    summary.mean += bin.weight / total * moments.mean;
    summary.mean_square += bin.weight / total * moments.mean_square;
  }
  if (summary.mean == 0) return;
  // A second pass around the mean: exact zero for equal lengths.
  double variance = 0, square_variance = 0;
  for (const LengthBin& bin : bins) {
    const BinMoments moments = moments_of(bin);
    const double off = moments.mean - summary.mean, square_off = moments.mean_square - summary.mean_square;
    variance += bin.weight / total * (moments.variance + off * off);
    square_variance += bin.weight / total * (moments.square_variance + square_off * square_off);
  }
  summary.cv = std::sqrt(variance) / summary.mean;
  summary.squared_cv = std::sqrt(square_variance) / summary.mean_square;
}

// 0, 1, 2, 3..4, 5..8, 9..16, ...: a length and the bin's number.
size_t histogram_bin(int64_t length) {
  return length == 0 ? 0 : 1 + static_cast<size_t>(std::bit_width(static_cast<uint64_t>(length - 1)));
}
int64_t histogram_hi(size_t number) {
  return number == 0 ? 0 : int64_t{1} << (number - 1);
}

void add_histogram(const Bins& bins, double total, LengthSummary& summary) {
  const size_t first = histogram_bin(bins.front().lo);
  summary.histogram.resize(histogram_bin(bins.back().hi) - first + 1);
  for (size_t i = 0; i < summary.histogram.size(); ++i) {
    summary.histogram[i].hi = histogram_hi(first + i);
    summary.histogram[i].lo = first + i == 0 ? 0 : histogram_hi(first + i - 1) + 1;
  }
  const bool has_tokens = summary.mean > 0;
  for (const LengthBin& bin : bins) {
    const double per_length = bin.weight / total / static_cast<double>(bin.hi - bin.lo + 1);
    for (int64_t lo = bin.lo; lo <= bin.hi;) {
      LengthSummary::Bin& target = summary.histogram[histogram_bin(lo) - first];
      const LengthBin part{lo, std::min(bin.hi, target.hi), 0};
      const BinMoments moments = moments_of(part);
      const double documents = per_length * static_cast<double>(part.hi - part.lo + 1);
      target.documents += documents;
      if (has_tokens) target.tokens += documents * moments.mean / summary.mean;
      if (has_tokens) target.squares += documents * moments.mean_square / summary.mean_square;
      lo = part.hi + 1;
    }
  }
}

void add_longest(const Bins& bins, double total, LengthSummary& summary) {
  if (summary.mean == 0) return;
  const double mass = summary.documents ? std::ceil(total / 100) : total / 100;
  LengthSummary::Longest longest;
  for (const LengthBin& bin : longest_of(bins, mass)) {
    const BinMoments moments = moments_of(bin);
    longest.documents += bin.weight / total;
    longest.tokens += bin.weight / total * moments.mean / summary.mean;
    longest.squares += bin.weight / total * moments.mean_square / summary.mean_square;
  }
  summary.longest = longest;
}

// Mean of ln(length) over a bin, the lengths taken as continuous.
double mean_log(const LengthBin& bin) {
  if (bin.lo == bin.hi) return std::log(static_cast<double>(bin.lo));
  const double a = static_cast<double>(bin.lo) - 0.5, b = static_cast<double>(bin.hi) + 0.5;
  return (b * std::log(b) - a * std::log(a)) / (b - a) - 1;
}

void add_tail(const Bins& bins, double total, LengthSummary& summary) {
  if (summary.documents && *summary.documents < kDocumentsForTail) {
    summary.no_tail = fmt::format("fewer than {} documents", kDocumentsForTail);
    return;
  }
  LengthSummary::Tail tail;
  if (summary.documents) tail.k = std::max(kTailDocuments, *summary.documents / 100);
  const double mass = tail.k ? static_cast<double>(*tail.k) : total / 100;
  tail.threshold = length_at(bins, total - mass);
  const LengthBin& last = bins.back();
  if (summary.min == summary.max) {
    summary.no_tail = "all lengths are equal";
    return;
  }
  if (last.lo == last.hi && last.weight >= kCapShare * mass) {
    summary.no_tail = fmt::format("cut at {} tokens: {:.3g} % of the documents have exactly this length",
                                  format_count(last.hi), 100 * last.weight / total);
    return;
  }
  if (tail.threshold == 0) {
    summary.no_tail = "nearly all documents are of zero length";
    return;
  }
  double logs = 0;
  const double threshold = std::log(static_cast<double>(tail.threshold));
  for (const LengthBin& bin : longest_of(bins, mass)) logs += bin.weight / mass * (mean_log(bin) - threshold);
  if (!(logs > 1 / kLightTail)) {
    summary.no_tail = fmt::format("light: the longest document is only {:.3g} times the p{:.3g}",
                                  static_cast<double>(summary.max) / static_cast<double>(tail.threshold),
                                  100 * (1 - mass / total));
    return;
  }
  tail.index = 1 / logs;
  tail.squared_index = tail.index / 2;
  summary.tail = tail;
}

}  // namespace

LengthSummary summarise(const Lengths& lengths) {
  CP_CHECK(lengths.corpus.empty() != lengths.bins.empty());
  const Bins bins = ascending_bins(lengths);
  const double total = total_weight(bins);
  LengthSummary summary;
  summary.documents = lengths.documents;
  summary.min = bins.front().lo;
  summary.max = bins.back().hi;
  add_moments(bins, total, summary);
  for (const double p : kQuantiles) summary.quantiles.push_back({p, length_at(bins, p * total)});
  add_histogram(bins, total, summary);
  if (summary.histogram.front().hi == 0) summary.zero_length_share = summary.histogram.front().documents;
  if (summary.documents) {
    const double documents = static_cast<double>(*summary.documents);
    double tokens = 0;  // exact below 2^53
    for (const LengthBin& bin : bins) tokens += bin.weight * moments_of(bin).mean;
    summary.tokens = std::llround(tokens);
    summary.zero_length = std::llround(summary.zero_length_share * documents);
  }
  add_longest(bins, total, summary);
  add_tail(bins, total, summary);
  return summary;
}

}  // namespace counterpoise
