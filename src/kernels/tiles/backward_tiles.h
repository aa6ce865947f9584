// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kernels/tiles/lane_math.h"
#include "kernels/tiles/products.h"

// The backward pass of a block of keys and a block of queries. T is the tile machine, V the vectors.
namespace counterpoise {

// Weights and their gradients for one chunk of 32 keys and 32 queries, in steps that overlap with the next
// chunk's products.
template <class V>
class ChunkGradients {
 public:
  ChunkGradients() = default;
  ChunkGradients(const TileGradientArgs& a, const PairWindow& window, int pair, int chunk, float* scores)
      : a_(&a), window_(&window), pair_(pair), chunk_(chunk), row_(0), scores_(scores) {
    const int later_products = 4 * (a.steps + a.value_pairs - 2);
    rows_per_call_ = later_products > 0 ? (16 + later_products - 1) / later_products : 16;
  }

  void stored() {
    if (!a_ || ready_) return;
    ready_ = true;
    if (window_->cuts(chunk_)) mask_scores<V>(*window_, chunk_, scores_);
  }

  [[gnu::always_inline]] void work() {
    const int end = row_ + rows_per_call_ < 16 ? row_ + rows_per_call_ : 16;
    for (; row_ < end; ++row_) differentiate_row();
  }

  void finish() {
    for (; row_ < 16; ++row_) differentiate_row();
  }

 private:
  // Keys row and row + 16.
  [[gnu::always_inline]] void differentiate_row() {
    using Reg = typename V::Reg;
    const Reg scale = V::set(a_->scale);
    typename V::Words p[2][2], ds[2][2];  // [key][group of lanes]
    for (int g = 0; g < 2; ++g) {
      const Reg minus = V::sub(V::zero(), V::load(a_->lse + pair_ * a_->query_stride + g * 16));
      const Reg delta = V::load(a_->delta + pair_ * a_->query_stride + g * 16);
      for (int half = 0; half < 2; ++half) {
        const float* s = scores_ + (row_ + 16 * half) * kPairRows + g * 16;
        const Reg weight = exp2<V>(V::fma(V::load(s), scale, minus));
        p[half][g] = V::round_up(weight);
        ds[half][g] = V::round_up(V::mul(weight, V::sub(V::load(s + kPairFloats), delta)));
      }
    }
    const int at = (chunk_ * kMaxQueryPairs + pair_) * kPairWords + row_ * 16;
    uint32_t* by_query = a_->ds_by_query + (pair_ * kChunks + chunk_) * kPairWords + row_ * 16;
    for (int i = 0; i < 2; ++i) {
      V::store_words(a_->p + at + i * kTileWords, V::pair(p[i][0], p[i][1]));
      V::store_words(a_->ds + at + i * kTileWords, V::pair(ds[i][0], ds[i][1]));
      V::store_words(by_query + i * kTileWords, V::pair(ds[0][i], ds[1][i]));
    }
  }

  const TileGradientArgs* a_ = nullptr;
  const PairWindow* window_ = nullptr;
  int pair_ = 0, chunk_ = 0, row_ = 16, rows_per_call_ = 0;
  bool ready_ = false;
  float* scores_ = nullptr;  // scores, then the gradients of the weights
};

struct QueryWindows {
  int count;
  PairWindow of[kMaxQueryPairs];

  explicit QueryWindows(const BlockWindow& w) : count(pairs_of(w)), of{{w, 0}, {w, 1}, {w, 2}, {w, 3}} {}
};

// p and ds of all chunks.
template <class V, class T>
void weights_and_gradients(T& tiles, const TileGradientArgs& a, const QueryWindows& windows) {
  ChunkGradients<V> work;
  PendingStore pending;
  int parity = 0;  // the work on one chunk overlaps with the products of the next
  for (int pair = 0; pair < windows.count; ++pair) {
    const PairWindow& window = windows.of[pair];
    for (int chunk = window.first; chunk < window.last; ++chunk, parity ^= 1) {
      float* scores = a.scores + parity * 2 * kPairFloats;
      multiply<Accumulate::kFromZero>(tiles,
                                      {a.k + chunk * a.steps * kPairWords, kPairWords,
                                       a.q + pair * a.query_stride, kPairWords, a.steps, scores, kPairRows},
                                      pending, work);
      multiply<Accumulate::kFromZero>(
          tiles,
          {a.v + chunk * a.value_pairs * kPairWords, kPairWords, a.dout + pair * a.query_stride, kPairWords,
           a.value_pairs, scores + kPairFloats, kPairRows},
          pending, work);
      work.finish();
      work = ChunkGradients<V>(a, window, pair, chunk, scores);
    }
  }
  flush(tiles, pending);
  work.stored();
  work.finish();
}

// c[key][column] += sum over queries of weights * rows, for the chunks and queries that see each other.
template <class T>
void add_key_gradients(T& tiles, const TileGradientArgs& a, const QueryWindows& windows,
                       const uint32_t* weights, const uint32_t* rows, int column_pairs, float* c) {
  PendingStore pending;
  for (int chunk = 0; chunk < a.chunks; ++chunk) {
    int first = 0, last = windows.count;  // the masks let a chunk be seen by consecutive queries
    auto sees = [&](int pair) { return windows.of[pair].first <= chunk && chunk < windows.of[pair].last; };
    while (first < last && !sees(first)) ++first;
    while (first < last && !sees(last - 1)) --last;
    if (first == last) continue;
    for (int i = 0; i < column_pairs; ++i) {
      const int64_t stride = column_pairs * kPairRows;
      multiply<Accumulate::kAdd>(tiles,
                                 {weights + (chunk * kMaxQueryPairs + first) * kPairWords, kPairWords,
                                  rows + first * a.query_stride + i * kPairWords, a.query_stride,
                                  last - first, c + chunk * kPairRows * stride + i * kPairRows, stride},
                                 pending);
    }
  }
  flush(tiles, pending);
}

template <class T, class V>
void gradients(const TileGradientArgs& a) {
  const QueryWindows windows(a.window);
  T tiles;
  weights_and_gradients<V>(tiles, a, windows);
  add_key_gradients(tiles, a, windows, a.p, a.dout_rows, a.value_pairs, a.dv);
  add_key_gradients(tiles, a, windows, a.ds, a.q_rows, a.steps, a.dk);
}

template <class T>
void query_gradients(const TileGradientArgs& a) {
  const QueryWindows windows(a.window);
  T tiles;
  PendingStore pending;
  for (int pair = 0; pair < windows.count; ++pair) {
    const PairWindow& window = windows.of[pair];
    if (window.first == window.last) continue;
    for (int i = 0; i < a.steps; ++i)
      multiply<Accumulate::kAdd>(
          tiles,
          {a.k_transposed + (i * a.chunks + window.first) * kPairWords, kPairWords,
           a.ds_by_query + (pair * kChunks + window.first) * kPairWords, kPairWords,
           window.last - window.first, a.dq + pair * a.query_stride + i * kPairFloats, kPairRows},
          pending);
  }
  flush(tiles, pending);
}

}  // namespace counterpoise
