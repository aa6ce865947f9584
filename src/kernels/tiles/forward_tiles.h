// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kernels/tiles/lane_math.h"
#include "kernels/tiles/products.h"

// The forward pass of a panel of queries over a block of keys: scores and weights of all its chunks, then the
// output. T is the tile machine, V the vectors.
namespace counterpoise {

// Chunks from which on the weights have a new reference, so that the output is to be rescaled before they are
// added.
struct NewReferences {
  bool at[kMaxQueryPairs][kChunks] = {};
};

// The softmax of one chunk of 32 keys and 32 queries, in steps that overlap with the next chunk's product.
template <class V>
class ChunkSoftmax {
 public:
  ChunkSoftmax() = default;
  ChunkSoftmax(const TileForwardArgs& a, const PairWindow& window, int pair, int chunk,
               NewReferences& references)
      : a_(&a), window_(&window), references_(&references), pair_(pair), chunk_(chunk), row_(0) {
    const int later_products = 4 * (a.steps - 1);
    rows_per_call_ = later_products > 0 ? (16 + later_products - 1) / later_products : 16;
    p_ = a.p + (pair * kChunks + chunk) * kPairWords;
  }

  void stored() {
    if (!a_) return;
    if (window_->cuts(chunk_)) mask_scores<V>(*window_, chunk_, a_->scores);
    const int lane = pair_ * kPairRows;
    for (int g = 0; g < 2; ++g) {
      reference_[g] = V::load(a_->reference + lane + g * 16);
      sum_[g] = V::load(a_->sum + lane + g * 16);
      rounded_sum_[g] = V::load(a_->rounded_sum + lane + g * 16);
    }
    raise_reference();
  }

  [[gnu::always_inline]] void work() {
    const int end = row_ + rows_per_call_ < 16 ? row_ + rows_per_call_ : 16;
    for (; row_ < end; ++row_) weigh_row();
  }

  void finish() {
    if (!a_) return;
    for (; row_ < 16; ++row_) weigh_row();
    const int lane = pair_ * kPairRows;
    for (int g = 0; g < 2; ++g) {
      V::store(a_->sum + lane + g * 16, sum_[g]);
      V::store(a_->rounded_sum + lane + g * 16, rounded_sum_[g]);
    }
  }

 private:
  using Reg = typename V::Reg;

  void raise_reference() {
    Reg top[2] = {V::load(a_->scores), V::load(a_->scores + 16)};
    for (int key = 1; key < kPairRows; ++key)
      for (int g = 0; g < 2; ++g) top[g] = V::max(V::load(a_->scores + key * kPairRows + g * 16), top[g]);
    Reg limit[2];
    for (int g = 0; g < 2; ++g) {
      top[g] = V::mul(top[g], V::set(a_->scale));
      limit[g] = V::add(reference_[g], V::set(kReferenceSlack));
    }
    if (!V::any_greater(top[0], limit[0]) && !V::any_greater(top[1], limit[1])) return;
    references_->at[pair_][chunk_] = true;
    for (int g = 0; g < 2; ++g) {
      const Reg raised = V::select_greater(top[g], limit[g], top[g], reference_[g]);
      const Reg factor = exp2<V>(V::sub(reference_[g], raised));
      V::store(a_->rescale + (pair_ * kChunks + chunk_) * kPairRows + g * 16, factor);
      V::store(a_->reference + pair_ * kPairRows + g * 16, raised);
      sum_[g] = V::mul(sum_[g], factor);
      rounded_sum_[g] = V::mul(rounded_sum_[g], factor);
      reference_[g] = raised;
    }
  }

  // Weights of keys row and row + 16.
  [[gnu::always_inline]] void weigh_row() {
    const Reg scale = V::set(a_->scale);
    for (int g = 0; g < 2; ++g) {
      const float* lanes = a_->scores + row_ * kPairRows + g * 16;
      const Reg minus = V::sub(V::zero(), reference_[g]);
      const Reg low = exp2<V>(V::fma(V::load(lanes), scale, minus));
      const Reg high = exp2<V>(V::fma(V::load(lanes + 16 * kPairRows), scale, minus));
      sum_[g] = V::add(sum_[g], V::add(low, high));
      const typename V::Words low_words = V::round_up(low), high_words = V::round_up(high);
      rounded_sum_[g] = V::add(rounded_sum_[g], V::add(V::high_half(low_words), V::high_half(high_words)));
      V::store_words(p_ + g * kTileWords + row_ * 16, V::pair(low_words, high_words));
    }
  }

  const TileForwardArgs* a_ = nullptr;
  const PairWindow* window_ = nullptr;
  NewReferences* references_ = nullptr;
  int pair_ = 0, chunk_ = 0, row_ = 16, rows_per_call_ = 0;
  uint32_t* p_ = nullptr;
  Reg reference_[2], sum_[2], rounded_sum_[2];
};

template <class V>
void rescale_lanes(float* out, int rows, const float* factor) {
  const typename V::Reg f[2] = {V::load(factor), V::load(factor + 16)};
  for (int r = 0; r < rows; ++r)
    for (int g = 0; g < 2; ++g) {
      float* lanes = out + r * kPairRows + g * 16;
      V::store(lanes, V::mul(V::load(lanes), f[g]));
    }
}

// out += v^T p for one pair of query tiles.
template <class V, class T>
void add_values(T& tiles, const TileForwardArgs& a, const PairWindow& window, int pair,
                const NewReferences& references) {
  float* out = a.out + pair * a.value_pairs * kPairFloats;
  for (int first = window.first; first < window.last;) {
    if (references.at[pair][first])
      rescale_lanes<V>(out, a.value_pairs * kPairRows, a.rescale + (pair * kChunks + first) * kPairRows);
    int last = first + 1;
    while (last < window.last && !references.at[pair][last]) ++last;
    PendingStore pending;
    for (int i = 0; i < a.value_pairs; ++i) {
      const PairProduct product{a.v + (i * a.chunks + first) * kPairWords,
                                kPairWords,
                                a.p + (pair * kChunks + first) * kPairWords,
                                kPairWords,
                                last - first,
                                out + i * kPairFloats,
                                kPairRows};
      multiply<Accumulate::kAdd>(tiles, product, pending);
    }
    flush(tiles, pending);
    first = last;
  }
}

template <class T, class V>
void attend(const TileForwardArgs& a) {
  const int pairs = pairs_of(a.window);
  T tiles;
  NewReferences references;
  ChunkSoftmax<V> softmax;
  PendingStore pending;
  PairWindow windows[kMaxQueryPairs] = {{a.window, 0}, {a.window, 1}, {a.window, 2}, {a.window, 3}};
  for (int pair = 0; pair < pairs; ++pair) {
    for (int chunk = windows[pair].first; chunk < windows[pair].last; ++chunk) {
      const PairProduct product{a.k + chunk * a.steps * kPairWords,
                                kPairWords,
                                a.q + pair * a.steps * kPairWords,
                                kPairWords,
                                a.steps,
                                a.scores,
                                kPairRows};
      multiply<Accumulate::kFromZero>(tiles, product, pending, softmax);
      softmax.finish();
      softmax = ChunkSoftmax<V>(a, windows[pair], pair, chunk, references);
    }
  }
  flush(tiles, pending);
  softmax.stored();
  softmax.finish();
  for (int pair = 0; pair < pairs; ++pair) add_values<V>(tiles, a, windows[pair], pair, references);
}

}  // namespace counterpoise
