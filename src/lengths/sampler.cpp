// SPDX-License-Identifier: Apache-2.0
#include "counterpoise/error.h"
#include "counterpoise/lengths.h"

namespace counterpoise {

LengthSampler::LengthSampler(const Lengths& lengths) : values_(lengths.corpus) {
  CP_CHECK(lengths.corpus.empty() != lengths.bins.empty());
  double total = 0;
  for (const LengthBin& bin : lengths.bins) total += bin.weight;
  const size_t n = lengths.bins.size();
  slots_.resize(n);
  std::vector<double> mass(n);
  std::vector<size_t> small, large;
  for (size_t i = 0; i < n; ++i) {
    mass[i] = lengths.bins[i].weight / total * static_cast<double>(n);
    slots_[i].self = slots_[i].alias = lengths.bins[i];
    (mass[i] < 1 ? small : large).push_back(i);
  }
  // Each slot below one is filled up by a bin above one; what rounding leaves over keeps itself.
  while (!small.empty() && !large.empty()) {
    const size_t low = small.back(), high = large.back();
    small.pop_back();
    slots_[low].keep = mass[low];
    slots_[low].alias = lengths.bins[high];
    mass[high] -= 1 - mass[low];
    if (mass[high] < 1) {
      large.pop_back();
      small.push_back(high);
    }
  }
}

}  // namespace counterpoise
