// SPDX-License-Identifier: Apache-2.0
#include "kernels/tiles/tile_heads.h"

namespace counterpoise {
namespace {

// Bounds that keep every logit below kNoReference and every sum of 2^20 products finite, and what is flushed
// to zero (below 2^-126 per product) far below the precision of the largest result.
constexpr float kLargest = 0x1p30f, kSmallest = 0x1p-80f;

bool vanishes_or_counts(float largest) {
  return largest == 0 || largest >= kSmallest;
}

}  // namespace

TileHeads::TileHeads(const AttentionProblem& problem)
    : softmax_scale_(static_cast<float>(problem.shape.softmax_scale)),
      heads_(static_cast<size_t>(problem.shape.kv_heads)) {}

void TileHeads::note(int64_t kv_head, Tensor tensor, uint16_t magnitude) {
  std::atomic<uint16_t>& largest = heads_[kv_head].magnitude[tensor];
  uint16_t seen = largest.load(std::memory_order_relaxed);
  while (seen < magnitude && !largest.compare_exchange_weak(seen, magnitude, std::memory_order_relaxed)) {
  }
}

float TileHeads::largest(int64_t kv_head, Tensor tensor) const {
  return bfloat16_to_float(heads_[kv_head].magnitude[tensor].load(std::memory_order_relaxed));
}

// A NaN compares false.
bool TileHeads::bounded(int64_t kv_head) const {
  bool all = softmax_scale_ > 0 && softmax_scale_ <= kLargest &&
             !heads_[kv_head].refused.load(std::memory_order_relaxed);
  for (const Tensor tensor : {kQ, kK, kV, kDout}) all = all && largest(kv_head, tensor) <= kLargest;
  return all;
}

bool TileHeads::forward_fits(int64_t kv_head) const {
  return bounded(kv_head) && vanishes_or_counts(largest(kv_head, kV));
}

bool TileHeads::backward_fits(int64_t kv_head) const {
  const float dout = largest(kv_head, kDout), dp = dout * largest(kv_head, kV);
  return bounded(kv_head) && vanishes_or_counts(dout) && vanishes_or_counts(dp) &&
         vanishes_or_counts(dp * largest(kv_head, kQ)) && vanishes_or_counts(dp * largest(kv_head, kK));
}

OneHead::OneHead(const AttentionProblem& problem, int64_t kv_head)
    : kv_head_(kv_head), first_head_(kv_head * problem.group()), problem_(problem) {
  const Range group{first_head_, first_head_ + problem.group()};
  for (AttentionTile tile : problem.tiles) {
    const Range heads = intersect(tile.heads, group);
    tile.heads = {heads.begin - first_head_, heads.end - first_head_};
    if (!heads.empty()) tiles_.push_back(tile);
  }
  problem_.tiles = tiles_;
  problem_.shape.heads = problem.group();
  problem_.shape.kv_heads = 1;
}

}  // namespace counterpoise
