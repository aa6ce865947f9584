// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kernels/tiles/tile_kernels.h"

// The one product that all bfloat16 kernels are made of. T is the tile machine; nothing here or in the
// kernels may pull in an inline function of the standard library (see simd/register_tile.h).
namespace counterpoise {

// c (32 x 32) = or += sum over steps of a * b, each step a pair of tiles.
struct PairProduct {
  const uint32_t* a;
  int64_t a_step;  // words from one step to the next
  const uint32_t* b;
  int64_t b_step;
  int steps;  // >= 1
  float* c;
  int64_t c_stride;  // floats
};

// Accumulators that are still in tiles 0..3. A burst of stores stalls the multiplier; so each is stored just
// before the next product needs its tile.
struct PendingStore {
  float* c = nullptr;
  int64_t stride = 0;
};

// Accumulator tile n = 2 i + j holds rows 16 i and columns 16 j of c.
template <int kTile>
inline float* tile_of(float* c, int64_t stride) {
  return c + (kTile / 2) * 16 * stride + (kTile % 2) * 16;
}

template <int kTile, class T>
[[gnu::always_inline]] inline void store_pending(T& tiles, const PendingStore& pending) {
  if (pending.c) tiles.template store<kTile>(tile_of<kTile>(pending.c, pending.stride), pending.stride * 4);
}

template <class T>
inline void flush(T& tiles, PendingStore& pending) {
  store_pending<0>(tiles, pending);
  store_pending<1>(tiles, pending);
  store_pending<2>(tiles, pending);
  store_pending<3>(tiles, pending);
  pending.c = nullptr;
}

// Work of the vector units that overlaps with a product.
struct NoWork {
  void stored() {}  // what was pending is in memory now
  void work() {}    // after every later tile product
  void finish() {}  // all of it that is left
};

enum class Accumulate { kFromZero, kAdd };

template <Accumulate kHow, int kTile, class T>
[[gnu::always_inline]] inline void begin_tile(T& tiles, const PairProduct& x, const PendingStore& pending) {
  store_pending<kTile>(tiles, pending);
  if constexpr (kHow == Accumulate::kAdd)
    tiles.template load<kTile>(tile_of<kTile>(x.c, x.c_stride), x.c_stride * 4);
  else
    tiles.template zero<kTile>();
}

// Leaves c pending. Tiles 4 and 5 hold a, 6 and 7 b.
template <Accumulate kHow, class T, class Work>
[[gnu::always_inline]] inline void multiply(T& tiles, const PairProduct& x, PendingStore& pending,
                                            Work&& side) {
  constexpr int64_t kRowBytes = 64;
  tiles.template load<4>(x.a, kRowBytes);
  tiles.template load<6>(x.b, kRowBytes);
  begin_tile<kHow, 0>(tiles, x, pending);
  tiles.template multiply<0, 4, 6>();
  tiles.template load<7>(x.b + kTileWords, kRowBytes);
  begin_tile<kHow, 1>(tiles, x, pending);
  tiles.template multiply<1, 4, 7>();
  tiles.template load<5>(x.a + kTileWords, kRowBytes);
  begin_tile<kHow, 2>(tiles, x, pending);
  tiles.template multiply<2, 5, 6>();
  begin_tile<kHow, 3>(tiles, x, pending);
  tiles.template multiply<3, 5, 7>();
  side.stored();
  const uint32_t *a = x.a, *b = x.b;
  for (int step = 1; step < x.steps; ++step) {
    a += x.a_step;
    b += x.b_step;
    tiles.template load<4>(a, kRowBytes);
    tiles.template load<6>(b, kRowBytes);
    tiles.template multiply<0, 4, 6>();
    side.work();
    tiles.template load<7>(b + kTileWords, kRowBytes);
    tiles.template multiply<1, 4, 7>();
    side.work();
    tiles.template load<5>(a + kTileWords, kRowBytes);
    tiles.template multiply<2, 5, 6>();
    side.work();
    tiles.template multiply<3, 5, 7>();
    side.work();
  }
  pending = {x.c, x.c_stride};
}

template <Accumulate kHow, class T>
inline void multiply(T& tiles, const PairProduct& x, PendingStore& pending) {
  multiply<kHow>(tiles, x, pending, NoWork{});
}

// The chunks of 32 keys that a pair of tiles of queries sees, and its mask.
struct PairWindow {
  int first, last;  // chunks [first, last)
  int begin, end;
  int low, high;  // for lane 0 of the pair

  PairWindow(const BlockWindow& w, int pair) : begin(w.begin), end(w.end) {
    const int lane = pair * kPairRows;
    const int lanes = w.rows - lane < kPairRows ? w.rows - lane : kPairRows;
    low = w.low + lane;
    high = w.high + lane;
    const int first_key = low > begin ? low : begin;
    const int end_key = high + lanes < end ? high + lanes : end;
    first = first_key / kPairRows;
    last = first_key < end_key ? (end_key + kPairRows - 1) / kPairRows : first;
  }
  // Does the mask hide any (key, lane) of the chunk?
  bool cuts(int chunk) const {
    const int key = chunk * kPairRows;
    return key < begin || key + kPairRows > end || key + kPairRows - 1 > high || key < low + kPairRows - 1;
  }
};

inline int pairs_of(const BlockWindow& w) {
  return (w.rows + kPairRows - 1) / kPairRows;
}

// Masked scores of a chunk become -inf. [32 keys][32 lanes].
template <class V>
void mask_scores(const PairWindow& w, int chunk, float* scores) {
  for (int r = 0; r < kPairRows; ++r) {
    const int key = chunk * kPairRows + r;
    for (int group = 0; group < 2; ++group) {
      float* lanes = scores + r * kPairRows + group * 16;
      const int first = key >= w.begin && key < w.end ? key - w.high - group * 16 : 16;
      V::store(lanes,
               V::keep_lanes(V::load(lanes), first, key - w.low - group * 16, V::set(-__builtin_inff())));
    }
  }
}

}  // namespace counterpoise
