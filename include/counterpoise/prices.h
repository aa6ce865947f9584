// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <span>

#include "counterpoise/plan.h"

namespace counterpoise {

// A message of b bytes occupies its sender's port for b / bytes_per_second and arrives `latency` later.
struct Link {
  double latency = 0;  // seconds
  double bytes_per_second = 1;
};

// Seconds that a virtual clock charges for the ops of a plan. Pure functions, thread safe; ranks are those of
// the run.
class Prices {
 public:
  virtual ~Prices() = default;
  // One call over `tiles`, whose documents are those of the window. Buffers of tiles mean nothing here: a
  // tile costs the same before it has any.
  virtual double attend(const AttentionShape& shape, std::span<const PlanDocument> documents,
                        std::span<const Tile> tiles, bool backward) const = 0;
  // By rank, payload, heads, rows and bytes alone.
  virtual double merge(const Buffer& from) const = 0;
  // For a message of `bytes`: libraries send small ones another way.
  virtual Link link(int32_t src, int32_t dst, int64_t bytes) const = 0;
  // The all-reduce at the end of the step, counted from when the last rank comes to it.
  virtual double all_reduce(int32_t ranks) const = 0;
};

// The least that can be said: affine in pairs, in bytes.
struct LinearPriceList {
  double seconds_per_call = 0;
  double seconds_per_pair = 0;  // forward, one unmasked pair of one head
  double backward_factor = 2.5;
  double merge_seconds_per_byte = 0;
  int32_t ranks_per_node = 0;  // 0: one node
  Link in_node;
  Link between_nodes;
  double all_reduce_bytes = 0;
};

class LinearPrices final : public Prices {
 public:
  explicit LinearPrices(const LinearPriceList& list) : list_(list) {}
  double attend(const AttentionShape& shape, std::span<const PlanDocument> documents,
                std::span<const Tile> tiles, bool backward) const override;
  double merge(const Buffer& from) const override;
  Link link(int32_t src, int32_t dst, int64_t bytes) const override;
  // Ring: 2 (n - 1) / n of the bytes over the slowest link, 2 (n - 1) latencies.
  double all_reduce(int32_t ranks) const override;

 private:
  LinearPriceList list_;
};

}  // namespace counterpoise
