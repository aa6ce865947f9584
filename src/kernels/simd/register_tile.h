// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

// What all blocked kernels are made of. Compiled per instruction set, so nothing here may pull in an inline
// function of the standard library: the linker keeps one copy of those for all.
namespace counterpoise {

// e^x for x <= 0 and a little above; below -87.7 zero; NaN stays. 2^(x log2 e) with a degree-5 minimax
// polynomial on [-1/2, 1/2] that is exact at 0, so that a single key weighs exactly 1. Error 1.3 * 2^-23.
template <class V>
inline typename V::Reg exp_nonpositive(typename V::Reg x) {
  using Reg = typename V::Reg;
  const Reg magic = V::set(12582912.0f + 127.0f);  // 1.5 * 2^23: the sum's low bits are the exponent + 127
  const Reg log2_e = V::set(1.44269504f);
  x = V::max(V::set(-88.0296919f), x);  // -127 ln 2
  const Reg shifted = V::fma(x, log2_e, magic);
  const Reg fraction = V::fma(x, log2_e, V::sub(magic, shifted));
  Reg y = V::set(0.0013264716f);
  y = V::fma(y, fraction, V::set(0.009671513f));
  y = V::fma(y, fraction, V::set(0.05550734f));
  y = V::fma(y, fraction, V::set(0.24022242f));
  y = V::fma(y, fraction, V::set(0.693147f));
  y = V::fma(y, fraction, V::set(1.0f));
  return V::mul(y, V::power_from_low_bits(shifted));
}

// Where the left operand of a register tile lies. The compiler must not see through the pointers: it would
// merge them into index arithmetic that costs more issue slots than the loads themselves.
template <int kCount>
struct SeparateRows {  // element (row, i) at p[row][i]
  const float* p[kCount];

  [[gnu::always_inline]] float at(int row, int i) const { return p[row][i]; }
  [[gnu::always_inline]] void advance(int steps) {
    for (int r = 0; r < kCount; ++r) {
      p[r] += steps;
      asm("" : "+r"(p[r]));
    }
  }
};

template <int kRowStride, int kStep>
struct StridedRows {  // element (row, i) at p[row * kRowStride + i * kStep]
  const float* p;

  [[gnu::always_inline]] float at(int row, int i) const { return p[row * kRowStride + i * kStep]; }
  [[gnu::always_inline]] void advance(int steps) {
    p += steps * kStep;
    asm("" : "+r"(p));
  }
};

struct SteppedRows {  // element (row, i) at p[row + i * step]
  const float* p;
  int64_t step;

  [[gnu::always_inline]] float at(int row, int i) const { return p[row + i * step]; }
  [[gnu::always_inline]] void advance(int steps) {
    p += steps * step;
    asm("" : "+r"(p));
  }
};

// A stretch of the sum that a tile makes: `count` steps of left and right operand.
struct TileStretch {
  const float* a;
  const float* b;
  int64_t count;
};

// acc[r][n] += a(r, i) * b[n]; kFirst <= n < kLast.
template <class V, int kFirst, int kLast, int kRows, int kVectors, class Rows>
[[gnu::always_inline]] inline void multiply_step(const Rows& a, int i, const float* b,
                                                 typename V::Reg (&acc)[kRows][kVectors]) {
  typename V::Reg column[kVectors];
  for (int n = kFirst; n < kLast; ++n) column[n] = V::load(b + n * V::kLanes);
  for (int r = 0; r < kRows; ++r) {
    const typename V::Reg x = V::set(a.at(r, i));
    for (int n = kFirst; n < kLast; ++n) acc[r][n] = V::fma(x, column[n], acc[r][n]);
  }
}

// acc[r][n] += sum over i < count of a(r, i) * b[i][n], kFirst <= n < kLast, all accumulators in registers. A
// row of b has kVectors vectors.
template <class V, int kFirst, int kLast, int kRows, int kVectors, class Rows>
[[gnu::always_inline]] inline void multiply_columns(Rows a, const float* b, int count,
                                                    typename V::Reg (&acc)[kRows][kVectors]) {
  constexpr int kStride = kVectors * V::kLanes;
  for (; count >= 4; count -= 4) {
    if constexpr (kFirst == 0 && kLast == kVectors && requires { V::multiply4(a, b, acc); }) {
      V::multiply4(a, b, acc);
    } else {
      for (int i = 0; i < 4; ++i) multiply_step<V, kFirst, kLast>(a, i, b + i * kStride, acc);
    }
    a.advance(4);
    b += 4 * kStride;
    asm("" : "+r"(b));
  }
  for (; count > 0; --count) {
    multiply_step<V, kFirst, kLast>(a, 0, b, acc);
    a.advance(1);
    b += kStride;
  }
}

template <class V, int kRows, int kVectors, class Rows>
[[gnu::always_inline]] inline void multiply_tile(Rows a, const float* b, int count,
                                                 typename V::Reg (&acc)[kRows][kVectors]) {
  multiply_columns<V, 0, kVectors>(a, b, count, acc);
}

// No infinity and no NaN: 0 * x is NaN for those.
template <class V>
bool all_finite(const float* from, int64_t stride, int rows, int dim) {
  typename V::Reg poison[4] = {V::zero(), V::zero(), V::zero(), V::zero()};
  float tail = 0;
  for (int row = 0; row < rows; ++row) {
    const float* x = from + row * stride;
    int i = 0;
    for (; i + 4 * V::kLanes <= dim; i += 4 * V::kLanes)
      for (int n = 0; n < 4; ++n) poison[n] = V::fma(V::load(x + i + n * V::kLanes), V::zero(), poison[n]);
    for (; i + V::kLanes <= dim; i += V::kLanes) poison[0] = V::fma(V::load(x + i), V::zero(), poison[0]);
    for (; i < dim; ++i) tail += x[i] * 0.0f;
  }
  float lanes[V::kLanes];
  V::store(lanes, V::add(V::add(poison[0], poison[1]), V::add(poison[2], poison[3])));
  for (int n = 0; n < V::kLanes; ++n) tail += lanes[n];
  return tail == 0;
}

// Which vectors of a panel take part. Beyond the panel's rows none does, and below the diagonal of a causal
// mask the first vectors drop out one after another: vector n sees no key from stop[n] on.
template <class V>
struct ActiveVectors {
  int last;     // vectors with at least one row
  int stop[3];  // ascending; stop[last - 1] = end

  ActiveVectors(int rows, int high, int end) : last((rows + V::kLanes - 1) / V::kLanes) {
    for (int n = 0; n < 3; ++n) {
      const int limit = high + (n + 1) * V::kLanes;
      stop[n] = n + 1 < last && limit < end ? limit : end;
    }
  }
  int first(int key) const { return last > 1 && key >= stop[0] ? (last > 2 && key >= stop[1] ? 2 : 1) : 0; }
};

// Instruction sets whose whole tiles of products begin and end in memory.
template <class V>
concept ProductsInMemory = requires(const SeparateRows<V::kRows>& rows, const float* panel, float* c) {
  V::product(rows, panel, 0, c);
};

// How many tiles from `key` on are whole: three vectors, and every lane sees every key.
template <class V, class Args>
inline int whole_tiles(const Args& a, int key) {
  if (a.rows <= 2 * V::kLanes || key < a.low + 3 * V::kLanes - 1) return 0;
  const int end = a.high < a.end ? a.high + 1 : a.end;
  return key < end ? (end - key) / V::kRows : 0;
}

// Calls tile(rows, key) for `count` tiles of V::kRows rows of `from` each, beginning with row `key`.
template <class V, class Tile>
[[gnu::always_inline]] inline void for_each_whole_tile(const float* from, int64_t stride, int key, int count,
                                                       Tile tile) {
  SeparateRows<V::kRows> rows;
  for (int r = 0; r < V::kRows; ++r) rows.p[r] = from + (key + r) * stride;
  for (; count > 0; --count, key += V::kRows) {
    tile(rows, key);
    for (int r = 0; r < V::kRows; ++r) rows.p[r] += V::kRows * stride;
  }
}

// Keys that a tile of so many vectors takes at once: enough accumulators to hide the latency of a
// multiply-add.
template <class V>
constexpr int tile_height(int vectors) {
  return vectors == 1 ? 8 : V::kRows;
}

// Calls work.template operator()<first, last>() for the run-time pair.
template <class Work>
[[gnu::always_inline]] inline void with_vectors(int first, int last, Work work) {
  if (last == 3) {
    if (first == 0) return work.template operator()<0, 3>();
    if (first == 1) return work.template operator()<1, 3>();
    return work.template operator()<2, 3>();
  }
  if (last == 2) {
    if (first == 0) return work.template operator()<0, 2>();
    return work.template operator()<1, 2>();
  }
  return work.template operator()<0, 1>();
}

}  // namespace counterpoise
