// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "counterpoise/prices.h"
#include "exec/attention_kernel.h"

namespace counterpoise {

// Seconds per unmasked pair and head of this machine's kernel, by the size of the work.
struct PairPrice {
  double area = 0;
  double forward = 0;   // seconds per pair
  double backward = 0;  // seconds per pair
};

// Times whole causal documents of 16 tokens up to `longest` (best of several runs, about `budget` seconds in
// all). Small work includes the cost of a call.
std::vector<PairPrice> measure_pair_prices(const AttentionShape& shape, int64_t longest, double budget,
                                           const KernelOptions& options);

// Prices attention by that table, interpolated in log area; messages and merges cost nothing, as where ranks
// read keys in place.
class MeasuredPrices final : public Prices {
 public:
  explicit MeasuredPrices(std::vector<PairPrice> table) : table_(std::move(table)) {}
  double attend(const AttentionShape& shape, std::span<const PlanDocument> documents,
                std::span<const Tile> tiles, bool backward) const override;
  double merge(const Buffer&) const override { return 0; }
  Link link(int32_t, int32_t, int64_t) const override { return {0, 1e30}; }
  double all_reduce(int32_t) const override { return 0; }

 private:
  double per_pair(double pairs, bool backward) const;
  std::vector<PairPrice> table_;
};

}  // namespace counterpoise
