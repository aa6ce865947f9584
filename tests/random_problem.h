// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "attention_cases.h"

namespace counterpoise::testing_attention {

// Tiles of random rectangles; q rows and kv rows overlap and have gaps.
inline Problem random_problem(RandomStream& random) {
  auto below = [&](int64_t n) { return static_cast<int64_t>(random.below(static_cast<uint64_t>(n))); };
  Problem p;
  p.shape.kv_heads = 1 + below(2);
  p.shape.heads = p.shape.kv_heads * (1 + below(3));
  p.shape.head_dim = 1 + below(70);
  p.shape.v_head_dim = below(2) ? 0 : 1 + below(70);
  p.shape.softmax_scale = below(2) ? 0 : 0.3;
  const Mask masks[] = {
      Mask::full(), Mask::causal(), Mask::sliding_window(1 + below(60)), {below(50), below(50)}};
  p.mask = masks[below(4)];
  p.layout = {below(5), below(5), below(5)};
  p.q_rows = 1 + below(150);
  p.kv_rows = 1 + below(150);
  const int64_t far = below(2) ? int64_t{3} << 31 : 0;
  for (int64_t i = below(5); i >= 0; --i) {
    AttentionTile tile;
    tile.q_row = below(p.q_rows);
    tile.kv_row = below(p.kv_rows);
    tile.q.begin = far + below(200);
    tile.q.end = tile.q.begin + below(p.q_rows - tile.q_row + 1);
    tile.kv.begin = far + below(200);
    tile.kv.end = tile.kv.begin + below(p.kv_rows - tile.kv_row + 1);
    tile.heads.begin = below(p.shape.heads);
    tile.heads.end = tile.heads.begin + 1 + below(p.shape.heads - tile.heads.begin);
    p.tiles.push_back(tile);
  }
  return p;
}

// Gradients added to zeros and to ones.
inline void expect_one_more(const Tensor& zero, const Tensor& one, const char* name) {
  const std::vector<double> a = zero.values(), b = one.values();
  double largest = 1;
  for (const double x : a) largest = std::max(largest, std::abs(x));
  for (size_t i = 0; i < a.size(); ++i)
    ASSERT_NEAR(a[i] + 1, b[i], 16 * largest * 0x1p-23) << name << " " << i;
}

inline void expect_same_bytes(const Tensor& a, const Tensor& b, const char* name) {
  ASSERT_EQ(a.bytes(), b.bytes()) << name << " depends on the number of threads";
}

}  // namespace counterpoise::testing_attention
