// SPDX-License-Identifier: Apache-2.0
#include "study/variants.h"

#include <algorithm>

#include "counterpoise/length_summary.h"

namespace counterpoise {
namespace {

double tokens_of(const Lengths& lengths) {
  double tokens = 0;
  for (const int64_t length : lengths.corpus) tokens += static_cast<double>(length);
  for (const LengthBin& bin : lengths.bins) tokens += bin.weight * static_cast<double>(bin.lo + bin.hi) / 2;
  return tokens;
}

int64_t length_at(const Lengths& lengths, double p) {
  const LengthSummary summary = summarise(lengths);
  for (const LengthSummary::Quantile& quantile : summary.quantiles)
    if (quantile.p >= p) return quantile.length;
  return summary.max;
}

int64_t largest_judged_cp(const SimulationConfig& config) {
  int64_t largest = config.cp.front();
  for (const int64_t c : config.cp)
    if (config.ranks / c >= 4) largest = c;
  return largest;
}

}  // namespace

Lengths without_tail(const Lengths& lengths, double p) {
  const int64_t limit = length_at(lengths, p);
  Lengths kept = lengths;
  std::erase_if(kept.corpus, [&](int64_t length) { return length > limit; });
  std::erase_if(kept.bins, [&](const LengthBin& bin) { return bin.lo > limit; });
  for (LengthBin& bin : kept.bins) {
    const int64_t hi = std::min(bin.hi, limit);
    bin.weight *= static_cast<double>(hi - bin.lo + 1) / static_cast<double>(bin.hi - bin.lo + 1);
    bin.hi = hi;
  }
  return kept;
}

std::vector<Variant> compare_variants(const Lengths& lengths, const PieceTime& piece_time,
                                      const SimulationConfig& config) {
  const Lengths cut = without_tail(lengths, 0.99);
  const double all_tokens = tokens_of(lengths);
  const bool from_corpus = lengths.has_order();
  // Dropped documents and probability mass are counted in the same unit: tokens of the source.
  const double lost = all_tokens > 0 ? 1 - tokens_of(cut) / all_tokens : 0;
  std::vector<Variant> variants;
  for (const bool drop : {false, true}) {
    if (drop && (from_corpus ? cut.corpus.empty() : cut.bins.empty())) continue;
    for (const PackPolicy policy : {PackPolicy::kConcat, PackPolicy::kBestFitDecreasing}) {
      SimulationConfig variant = config;
      variant.pack.policy = policy;
      const int64_t largest = largest_judged_cp(config);
      variant.cp = largest > 1 ? std::vector<int64_t>{1, largest} : std::vector<int64_t>{1};
      const SimulationResult result = simulate(drop ? cut : lengths, piece_time, variant);
      const PackAccount& account = result.results.back().account;
      const double slots = static_cast<double>(account.placed + account.padding);
      const double kept_loss = account.tokens > 0 ? static_cast<double>(account.dropped + account.truncated) /
                                                        static_cast<double>(account.tokens)
                                                  : 0;
      variants.push_back({name_of(policy) + (drop ? ", documents above p99 dropped" : ""), result.results,
                          drop ? lost + (1 - lost) * kept_loss : kept_loss,
                          slots > 0 ? static_cast<double>(account.padding) / slots : 0});
    }
  }
  return variants;
}

}  // namespace counterpoise
