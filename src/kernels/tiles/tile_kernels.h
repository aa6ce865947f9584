// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

#include "kernels/simd/kernels.h"

// What the bfloat16 drivers ask of a tile machine: eight registers of 16 rows of 64 bytes, and the product of
// two of them, 16 x 32 times 32 x 16 bfloat16 added to 16 x 16 float32 (Intel SDM, TDPBF16PS). A 32-bit word
// holds two bfloat16 that are multiplied by the same word of the other operand. Word n of row m of a left
// operand is (a[m][2n], a[m][2n + 1]), of a right operand (b[2m][n], b[2m + 1][n]); any order of the summed
// index will do as long as both have it.
//
// All operands lie in memory as pairs of tiles, 32 rows or columns side by side, so that one loop multiplies
// everything (products.h). Queries lie in lanes, as in simd/: scores are [key][query].
namespace counterpoise {

constexpr int kPairRows = 32;                           // rows or columns of a pair of tiles
constexpr int kTileWords = 16 * 16;                     // 1 KB
constexpr int kPairWords = 2 * kTileWords;              // one step of a product: 32 of the summed index
constexpr int kPairFloats = kPairRows * kPairRows;      // accumulators of a product of two pairs
constexpr int kKeysPerTileBlock = 256;                  // keys of a block
constexpr int kChunks = kKeysPerTileBlock / kPairRows;  // of 32 keys
constexpr int kMaxQueryPairs = 4;                       // of 32 queries, that visit a block together

struct TileForwardArgs {
  BlockWindow window;
  float scale;        // softmax_scale * log2(e), > 0
  int steps;          // pairs of head_dim
  int value_pairs;    // pairs of value_dim
  int chunks;         // of 32 keys, in the block
  const uint32_t* q;  // [query pair][steps] right operands
  const uint32_t* k;  // [chunks][steps] left operands
  const uint32_t* v;  // [value_pairs][chunks] left operands, keys (r, r + 16) in a word
  // The running softmax, per query, in units of log2: weights are 2^(logit - reference).
  float* reference;    // in/out; kNoReference before the first key
  float* sum;          // in/out, of the weights
  float* rounded_sum;  // in/out, of the weights as they are multiplied: rounded to bfloat16
  float* out;          // in/out [query pair][value_pairs * 32][32]
  // Scratch.
  float* scores;   // kPairFloats
  uint32_t* p;     // [query pair][kChunks] right operands
  float* rescale;  // [query pair][kChunks][32]
};

constexpr double kTileExp2Error = 3e-6;  // relative error of a weight before it is rounded

// Any finite logit raises it.
constexpr float kNoReference = -1e30f;
// How far the largest logit may lie above the reference: a weight of 2^8 has the precision of a weight of 1,
// and the output need not be rescaled each time the maximum creeps up.
constexpr float kReferenceSlack = 8;

struct TileGradientArgs {
  BlockWindow window;
  float scale;                   // softmax_scale * log2(e)
  int steps;                     // pairs of head_dim
  int value_pairs;               // pairs of value_dim
  int chunks;                    // of 32 keys, in the block
  const uint32_t* k;             // [chunks][steps] left operands
  const uint32_t* v;             // [chunks][value_pairs] left operands
  const uint32_t* k_transposed;  // [steps][chunks] left operands, keys (r, r + 16) in a word
  // Of the first 32 queries; those of the next lie query_stride words further.
  const uint32_t* q;          // [steps] right operands
  const uint32_t* dout;       // [value_pairs] right operands
  const uint32_t* q_rows;     // [steps] right operands, queries (r, r + 16) in a word
  const uint32_t* dout_rows;  // [value_pairs] right operands, queries (r, r + 16) in a word
  int64_t query_stride;
  const float* lse;    // [32] of the first queries, log2; +inf: takes no part
  const float* delta;  // [32] of the first queries
  float* dq;           // in/out [steps * 32][32] of the first queries, without softmax_scale
  float* dk;           // in/out [chunks * 32][steps * 32], without softmax_scale
  float* dv;           // in/out [chunks * 32][value_pairs * 32]
  // Scratch.
  float* scores;          // 4 kPairFloats
  uint32_t* p;            // [chunk][kMaxQueryPairs] left operands, queries (r, r + 16) in a word
  uint32_t* ds;           // the same
  uint32_t* ds_by_query;  // [query pair][kChunks] right operands, keys (r, r + 16) in a word
};

struct TileKernels {
  // Before a thread's first and after its last product.
  void (*configure)();
  void (*release)();

  // The largest magnitude of rows x dim bfloat16, as its bits; 0x7f80 and above: not all are finite.
  uint16_t (*magnitude)(const uint16_t* from, int64_t stride, int rows, int dim);
  // Up to 32 rows of bfloat16, zero-padded to pairs of tiles; the pair of the next 32 columns lies to_step
  // words on.
  using Pack = void(const uint16_t* from, int64_t stride, int rows, int dim, uint32_t* to, int64_t to_step);
  Pack* pack_left;             // rows as the rows of a left operand
  Pack* pack_right;            // rows as the columns of a right operand
  Pack* pack_right_row_pairs;  // rows summed over: row m holds rows (m, m + 16)
  Pack* pack_left_row_pairs;   // rows summed over: column n holds rows (n, n + 16)

  void (*attend)(const TileForwardArgs&);
  // p, ds and what they add to dk and dv.
  void (*gradients)(const TileGradientArgs&);
  // What the same ds add to dq.
  void (*query_gradients)(const TileGradientArgs&);
  // to[r][c] = factor[r] * from[c][r] for 32 rows and `pairs` * 32 columns, contiguous.
  void (*rows_from_lanes)(const float* from, const float* factor, int pairs, float* to);
  // out[r] = sum over c of dout[c][r] * rows[r][c], dout as pack_right packs it, in the order in which a tile
  // product sums: where one key has all the weight, dp - delta is exactly zero.
  void (*row_dots)(const uint32_t* dout, const float* rows, int pairs, float* out);
};

}  // namespace counterpoise
