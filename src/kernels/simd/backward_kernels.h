// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kernels/simd/backward_args.h"
#include "kernels/simd/register_tile.h"

// The backward kernels, once for every vector type.
namespace counterpoise {

// Up to `height` rows from `key` on; beyond `end` the last one again.
template <int kHeight>
inline SeparateRows<kHeight> tile_rows(const float* from, int64_t stride, int key, int end) {
  SeparateRows<kHeight> rows;
  for (int r = 0; r < kHeight; ++r) rows.p[r] = from + (key + r < end ? key + r : end - 1) * stride;
  return rows;
}

// Logits of one tile into p.
template <class V, int kFirst, int kLast>
inline void logit_tile(const GradientArgs& a, int key) {
  constexpr int kWidth = 3 * V::kLanes, kHeight = tile_height<V>(kLast - kFirst);
  const auto rows = tile_rows<kHeight>(a.k, a.k_stride, key, a.end);
  float* p = a.p + key * kWidth;
  if constexpr (kFirst == 0 && kLast == 3 && ProductsInMemory<V>) {
    V::product(rows, a.q, a.dim, p);
  } else {
    typename V::Reg s[kHeight][3] = {};
    multiply_columns<V, kFirst, kLast>(rows, a.q, a.dim, s);
#pragma GCC unroll 8
    for (int r = 0; r < kHeight; ++r)
      for (int n = kFirst; n < kLast; ++n) V::store(p + r * kWidth + n * V::kLanes, s[r][n]);
  }
}

// From s to p and from dp(r, n) to ds, for the keys of one tile; zero beyond the end and in vectors that take
// no part.
template <class V, int kFirst, int kLast, class Gradient>
[[gnu::always_inline]] inline void weigh_tile(const GradientArgs& a, int key, Gradient dp) {
  constexpr int kWidth = 3 * V::kLanes, kHeight = tile_height<V>(kLast - kFirst);
  const bool cut = key + kHeight > a.end || key + kHeight - 1 > a.high || key < a.low + kWidth - 1;
#pragma GCC unroll 3
  for (int n = 0; n < 3; ++n) {
    const typename V::Reg lse = V::load(a.lse + n * V::kLanes), delta = V::load(a.delta + n * V::kLanes);
#pragma GCC unroll 8
    for (int r = 0; r < kHeight; ++r) {
      float* p = a.p + (key + r) * kWidth + n * V::kLanes;
      float* ds = a.ds + (key + r) * kWidth + n * V::kLanes;
      if (n < kFirst || n >= kLast) {
        V::store(p, V::zero());
        V::store(ds, V::zero());
        continue;
      }
      typename V::Reg x = V::sub(V::load(p), lse);
      if (cut) {
        const int first = key + r < a.end ? key + r - a.high - n * V::kLanes : kWidth;
        x = V::keep_lanes(x, first, key + r - a.low - n * V::kLanes, V::set(-__builtin_inff()));
      }
      x = exp_nonpositive<V>(x);
      V::store(p, x);
      V::store(ds, V::mul(x, V::sub(dp(r, n), delta)));
    }
  }
}

// p and ds of one tile, given its logits.
template <class V, int kFirst, int kLast>
inline void gradient_tile(const GradientArgs& a, int key) {
  constexpr int kWidth = 3 * V::kLanes, kHeight = tile_height<V>(kLast - kFirst);
  const auto rows = tile_rows<kHeight>(a.v, a.v_stride, key, a.end);
  float* ds = a.ds + key * kWidth;
  if constexpr (kFirst == 0 && kLast == 3 && ProductsInMemory<V>) {
    V::product(rows, a.dout, a.value_dim, ds);
    weigh_tile<V, kFirst, kLast>(
        a, key, [&](int r, int n) __attribute__((always_inline)) {
          return V::load(ds + r * kWidth + n * V::kLanes);
        });
  } else {
    typename V::Reg dp[kHeight][3] = {};
    multiply_columns<V, kFirst, kLast>(rows, a.dout, a.value_dim, dp);
    weigh_tile<V, kFirst, kLast>(
        a, key, [&](int r, int n) __attribute__((always_inline)) { return dp[r][n]; });
  }
}

// From s to p and from dp to ds, both in memory, for keys that every lane sees.
template <class V>
inline void weigh_whole(const GradientArgs& a, int begin, int end) {
  constexpr int kWidth = 3 * V::kLanes;
  typename V::Reg lse[3], delta[3];
  for (int n = 0; n < 3; ++n) {
    lse[n] = V::load(a.lse + n * V::kLanes);
    delta[n] = V::load(a.delta + n * V::kLanes);
  }
  for (int key = begin; key < end; ++key) {
    for (int n = 0; n < 3; ++n) {
      float* p = a.p + key * kWidth + n * V::kLanes;
      float* ds = a.ds + key * kWidth + n * V::kLanes;
      const typename V::Reg x = exp_nonpositive<V>(V::sub(V::load(p), lse[n]));
      V::store(p, x);
      V::store(ds, V::mul(x, V::sub(V::load(ds), delta[n])));
    }
  }
}

// Calls whole(key, count) for runs of whole tiles where the set has them, and tile.template operator()<first,
// last>(key) for every other tile of the block's keys.
template <class V, class Whole, class Tile>
[[gnu::always_inline]] inline void for_each_tile(const GradientArgs& a, Whole whole, Tile tile) {
  const ActiveVectors<V> active(a.rows, a.high, a.end);
  for (int key = a.begin; key < a.end;) {
    if constexpr (ProductsInMemory<V>) {
      if (const int count = whole_tiles<V>(a, key); count > 0) {
        whole(key, count);
        key += count * V::kRows;
        continue;
      }
    }
    with_vectors(
        active.first(key), active.last, [&]<int kFirst, int kLast>() __attribute__((always_inline)) {
          tile.template operator()<kFirst, kLast>(key);
          key += tile_height<V>(kLast - kFirst);
        });
  }
}

// Where products are made in memory, the logits of the whole block come first, so that only one of the two
// panels is in use at a time and stays in the first-level cache.
template <class V>
void gradients_by_product(const GradientArgs& a) {
  constexpr int kWidth = 3 * V::kLanes;
  for_each_tile<V>(
      a,
      [&](int key, int count) {
        for_each_whole_tile<V>(a.k, a.k_stride, key, count, [&](const auto& rows, int row) {
          V::product(rows, a.q, a.dim, a.p + row * kWidth);
        });
      },
      [&]<int kFirst, int kLast>(int key) { logit_tile<V, kFirst, kLast>(a, key); });
  for_each_tile<V>(
      a,
      [&](int key, int count) {
        for_each_whole_tile<V>(a.v, a.v_stride, key, count, [&](const auto& rows, int row) {
          V::product(rows, a.dout, a.value_dim, a.ds + row * kWidth);
          weigh_whole<V>(a, row, row + V::kRows);
        });
      },
      [&]<int kFirst, int kLast>(int key) { gradient_tile<V, kFirst, kLast>(a, key); });
}

template <class V>
void gradients(const GradientArgs& a) {
  if constexpr (ProductsInMemory<V>) return gradients_by_product<V>(a);
  for_each_tile<V>(
      a, [](int, int) {},
      [&]<int kFirst, int kLast>(int key) __attribute__((always_inline)) {
        logit_tile<V, kFirst, kLast>(a, key);
        gradient_tile<V, kFirst, kLast>(a, key);
      });
}

// Calls work.template operator()<vectors>() for the run-time count, at most kOuterVectors.
template <class V, int kVectors = V::kOuterVectors, class Work>
[[gnu::always_inline]] inline void with_strip_vectors(int vectors, Work work) {
  if constexpr (kVectors > 1) {
    if (vectors < kVectors) return with_strip_vectors<V, kVectors - 1>(vectors, work);
  }
  work.template operator()<kVectors>();
}

// Calls work.template operator()<vectors>(column) for every strip of `columns` columns in whole vectors.
template <class V, class Work>
[[gnu::always_inline]] inline void for_each_strip(int columns, Work work) {
  constexpr int kStrip = V::kOuterVectors * V::kLanes;
  for (int column = 0; column < columns; column += kStrip) {
    const int rest = (columns - column) / V::kLanes;
    with_strip_vectors<V>(
        rest < V::kOuterVectors ? rest : V::kOuterVectors, [&]<int kVectors>()
                                                               __attribute__((always_inline)) {
                                                                 work.template operator()<kVectors>(column);
                                                               });
  }
}

// c[r][n] += the sums of some stretches, Rows telling how their left operands lie.
template <class V, int kVectors, class Rows>
[[gnu::always_inline]] inline void add_stretches(const TileStretch* stretches, int count, float* c,
                                                 int64_t c_stride) {
  if constexpr (kVectors == V::kOuterVectors &&
                requires { V::accumulate_strip(Rows{}, stretches, count, c, c_stride); }) {
    V::accumulate_strip(Rows{}, stretches, count, c, c_stride);
  } else {
    typename V::Reg acc[V::kOuterRows][kVectors];
    for (int r = 0; r < V::kOuterRows; ++r)
      for (int n = 0; n < kVectors; ++n) acc[r][n] = V::load(c + r * c_stride + n * V::kLanes);
    for (int i = 0; i < count; ++i)
      multiply_tile<V>(Rows{stretches[i].a}, stretches[i].b, static_cast<int>(stretches[i].count), acc);
    for (int r = 0; r < V::kOuterRows; ++r)
      for (int n = 0; n < kVectors; ++n) V::store(c + r * c_stride + n * V::kLanes, acc[r][n]);
  }
}

template <class V>
void key_gradients(const KeyGradientArgs& a) {
  constexpr int kWidth = 3 * V::kLanes, kRows = V::kOuterRows;
  for_each_strip<V>(
      a.columns, [&]<int kVectors>(int column) __attribute__((always_inline)) {
        for (int key = a.begin; key < a.end; key += kRows) {
          TileStretch stretches[KeyGradientArgs::kMaxPanels];
          int count = 0;
          for (int i = 0; i < a.panel_count; ++i) {
            const KeyGradientArgs::Panel& panel = a.panels[i];
            if (key < panel.begin || key >= panel.end) continue;
            // Queries before `first` and from `last` on see none of these keys.
            const int first = key > panel.high ? key - panel.high : 0;
            const int last = key + kRows - panel.low < panel.rows ? key + kRows - panel.low : panel.rows;
            stretches[count++] = {panel.weights + key * kWidth + first,
                                  panel.strips + column * kWidth + first * kVectors * V::kLanes,
                                  last - first};
          }
          add_stretches<V, kVectors, StridedRows<kWidth, 1>>(
              stretches, count, a.c + static_cast<int64_t>(key) * a.columns + column, a.columns);
        }
      });
}

template <class V>
void query_gradients(const QueryGradientArgs& a) {
  constexpr int kWidth = 3 * V::kLanes, kRows = V::kOuterRows;
  const int padded = (a.columns + V::kLanes - 1) / V::kLanes * V::kLanes;
  for_each_strip<V>(
      padded, [&]<int kVectors>(int column) __attribute__((always_inline)) {
        constexpr int kStrip = kVectors * V::kLanes;
        for (int row = 0; row < a.rows; row += kRows) {
          // Keys that one of these queries may see.
          const int begin = a.low + row > a.begin ? a.low + row : a.begin;
          const int end = a.high + row + kRows < a.end ? a.high + row + kRows : a.end;
          if (begin >= end) continue;
          const TileStretch stretch{a.ds + begin * kWidth + row,
                                    a.strips + (static_cast<int64_t>(column) * a.keys + begin * kStrip),
                                    end - begin};
          float* c = a.c + row * a.c_stride + column;
          if (row + kRows <= a.rows && column + kStrip <= a.columns) {
            add_stretches<V, kVectors, StridedRows<1, kWidth>>(&stretch, 1, c, a.c_stride);
            continue;
          }
          float edge[kRows * kStrip] = {};
          add_stretches<V, kVectors, StridedRows<1, kWidth>>(&stretch, 1, edge, kStrip);
          for (int r = 0; r < kRows && row + r < a.rows; ++r)
            for (int x = 0; x < kStrip && column + x < a.columns; ++x)
              c[r * a.c_stride + x] += edge[r * kStrip + x];
        }
      });
}

template <class V>
void pack_strips(const float* from, int64_t stride, int rows, int room, int dim, float scale, float* to) {
  const typename V::Reg factor = V::set(scale);
  const int padded = (dim + V::kLanes - 1) / V::kLanes * V::kLanes;
  for_each_strip<V>(padded, [&]<int kVectors>(int column) {
    constexpr int kStrip = kVectors * V::kLanes;
    for (int row = 0; row < room; ++row, to += kStrip) {
      const float* x = from + row * stride + column;
      if (row < rows && column + kStrip <= dim) {
        for (int n = 0; n < kVectors; ++n)
          V::store(to + n * V::kLanes, V::mul(factor, V::load(x + n * V::kLanes)));
      } else {
        for (int i = 0; i < kStrip; ++i) to[i] = row < rows && column + i < dim ? scale * x[i] : 0.0f;
      }
    }
  });
}

template <class V>
void lane_dots(const float* a, const float* b, int dim, float* out) {
  for (int n = 0; n < 3; ++n) {
    typename V::Reg sum = V::zero();
    for (int c = 0; c < dim; ++c)
      sum = V::fma(V::load(a + (c * 3 + n) * V::kLanes), V::load(b + (c * 3 + n) * V::kLanes), sum);
    V::store(out + n * V::kLanes, sum);
  }
}

template <class V>
void add_rows(const float* from, int64_t from_stride, int rows, int columns, float* to, int64_t to_stride) {
  constexpr int kAhead = 2;  // rows of `to`, which come from memory
  for (int r = 0; r < rows; ++r, from += from_stride, to += to_stride) {
    if (r + kAhead < rows)
      for (int c = 0; c < columns; c += 16) __builtin_prefetch(to + kAhead * to_stride + c, 1);
    int c = 0;
    for (; c + V::kLanes <= columns; c += V::kLanes)
      V::store(to + c, V::add(V::load(to + c), V::load(from + c)));
    for (; c < columns; ++c) to[c] += from[c];
  }
}

template <class V>
constexpr BackwardKernels backward_kernels() {
  return {3 * V::kLanes,  V::kPanelsPerBlock, V::kKeysPerBlock,  V::kWideKeysPerBlock, V::kLanes,
          V::kOuterRows,  &gradients<V>,      &key_gradients<V>, &query_gradients<V>,  &pack_strips<V>,
          &all_finite<V>, &lane_dots<V>,      &V::transpose,     &add_rows<V>};
}

}  // namespace counterpoise
