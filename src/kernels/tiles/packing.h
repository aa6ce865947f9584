// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kernels/tiles/tile_kernels.h"

// The operand layouts of tile_kernels.h from rows of bfloat16, once for every vector type.
namespace counterpoise {

// 32 x 32 bfloat16 -> a pair of tiles.
template <class V, bool kRowPairs, bool kTransposed>
[[gnu::always_inline]] inline void pack_square(const uint16_t* from, int64_t stride, uint32_t* to) {
  for (int tile = 0; tile < 2; ++tile) {
    typename V::Words r[16];
    for (int i = 0; i < 16; ++i) {
      if constexpr (kRowPairs)
        r[i] = V::interleave(from + i * stride + tile * 16, from + (i + 16) * stride + tile * 16);
      else
        r[i] = V::load_words(from + (tile * 16 + i) * stride);
    }
    if constexpr (kTransposed) V::transpose_words(r);
    for (int i = 0; i < 16; ++i) V::store_words(to + tile * kTileWords + i * 16, r[i]);
  }
}

template <class V, bool kRowPairs, bool kTransposed>
void pack(const uint16_t* from, int64_t stride, int rows, int dim, uint32_t* to, int64_t to_step) {
  for (int column = 0; column < dim; column += kPairRows, to += to_step) {
    if (rows >= kPairRows && column + kPairRows <= dim) {
      pack_square<V, kRowPairs, kTransposed>(from + column, stride, to);
      continue;
    }
    uint16_t padded[kPairRows * kPairRows];
    for (int r = 0; r < kPairRows; ++r)
      for (int c = 0; c < kPairRows; ++c)
        padded[r * kPairRows + c] =
            r < rows && column + c < dim ? from[r * stride + column + c] : uint16_t{0};
    pack_square<V, kRowPairs, kTransposed>(padded, kPairRows, to);
  }
}

template <class V>
uint16_t magnitude(const uint16_t* from, int64_t stride, int rows, int dim) {
  uint16_t largest = 0;
  for (int r = 0; r < rows; ++r) {
    for (int c = 0; c < dim; ++c) {
      const uint16_t bits = from[r * stride + c] & 0x7fff;
      largest = bits > largest ? bits : largest;
    }
  }
  return largest;
}

}  // namespace counterpoise
