// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

// What the blocked driver asks of an instruction set. Queries lie in SIMD lanes: a panel is `width` queries,
// stored transposed as [head_dim][width], so that the softmax needs no reduction across lanes.
namespace counterpoise {

// Far outside any block, and far from overflow.
constexpr int kNoLimit = 1 << 28;
constexpr int clamp_limit(int64_t x) {
  return x < -kNoLimit ? -kNoLimit : x > kNoLimit ? kNoLimit : static_cast<int>(x);
}

// The keys [begin, end) of a block that some of the queries see.
// Query j sees key x when low + j <= x <= high + j.
struct BlockWindow {
  int begin, end;
  int low, high;
  int rows;  // queries in use; 0: they see no key of the block
};

// Keys [begin, end) of one block against one panel. Lane j sees key x when low + j <= x <= high + j.
struct ScoreArgs {
  const float* q;    // [dim][width], scaled by softmax_scale
  const float* k;    // row of key 0 of the block
  int64_t k_stride;  // floats from one key to the next
  int dim;
  int begin, end;
  int low, high;
  int rows;  // lanes in use
  // [key][width], from `scores` s and from `weights` e^(s - max), zero where masked; nothing where all lanes
  // of a vector are masked or not in use. Room for 7 keys beyond end.
  float* p;
  float* max;      // in/out [width]
  float* sum;      // in/out [width]
  float* rescale;  // out [width]: factor for what was summed before
};

struct ValueArgs {
  const float* p;  // [key][width]
  // Columns [g rows, (g + 1) rows) of key x of the block lie at v + g group_stride + x key_stride.
  const float* v;
  int64_t key_stride, group_stride;
  int begin, end;
  int high, rows;  // as in ScoreArgs
  int groups;      // value_dim / rows, rounded up
  const float* rescale;
  float* out;  // in/out [groups * rows][width]
};

struct ForwardKernels {
  int width;
  int rows;                           // register tile height, and the packing unit of v
  bool strided_values;                // takes v in place; otherwise key_stride must be rows
  void (*scores)(const ScoreArgs&);   // p, max, rescale
  void (*weights)(const ScoreArgs&);  // after scores: p, sum
  void (*values)(const ValueArgs&);
  // Packs keys x dim floats as [dim / rows][keys][rows], zero-padded.
  void (*pack_values)(const float* from, int64_t stride, int keys, int dim, float* to);
  bool (*all_finite)(const float* from, int64_t stride, int rows, int dim);
  // to[c * to_stride + r] = scale * from[r * from_stride + c]
  void (*transpose)(const float* from, int64_t from_stride, int rows, int columns, float scale, float* to,
                    int64_t to_stride);
  // out[r][lane] *= factor[lane]
  void (*scale_lanes)(float* out, int rows, const float* factor);
};

}  // namespace counterpoise
