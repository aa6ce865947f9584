// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

// What the blocked backward asks of an instruction set. Panels of queries as in kernels.h. Strips are the
// other layout, for operands whose columns go into lanes: the columns, rounded up to whole vectors with
// zeros, in strips of `strip`, the last one narrower: [strips][rows][columns of the strip].
namespace counterpoise {

// Keys [begin, end) of one block against one panel; the mask as in ScoreArgs.
struct GradientArgs {
  const float* q;     // [dim][width], scaled
  const float* k;     // row of key 0
  const float* dout;  // [value_dim][width]
  const float* v;     // row of key 0
  int64_t k_stride, v_stride;
  int dim, value_dim;
  int begin, end;
  int low, high;
  int rows;            // lanes in use
  const float* lse;    // [width]; +inf: the lane takes no part
  const float* delta;  // [width], sum of out * dout
  float* p;            // out: [key][width], e^(s - lse), zero where masked; room for 7 keys beyond end
  float* ds;           // out: [key][width], p (dp - delta)
};

// c[key][column] += sum over the panels' queries of weights[key][query] * strips[query][column].
struct KeyGradientArgs {
  static constexpr int kMaxPanels = 4;
  struct Panel {
    const float* weights;  // [key][width]
    const float* strips;   // of the panel's queries
    int begin, end;        // keys that have weights, in whole tiles of outer_rows
    int low, high, rows;   // as in GradientArgs
  };
  const Panel* panels;
  int panel_count;
  int begin, end;  // of all panels together
  int columns;     // whole vectors
  float* c;        // [key][columns]
};

// c[query][column] += sum over keys [begin, end) of ds[key][query] * strips[key][column], for one panel.
struct QueryGradientArgs {
  const float* ds;      // [key][width]
  const float* strips;  // of the block's keys
  int keys;             // in the block
  int begin, end;
  int low, high;      // as in GradientArgs
  int rows, columns;  // of c that exist
  float* c;
  int64_t c_stride;
};

struct BackwardKernels {
  int width;
  int panels;  // per block of queries: what stays in the first-level cache while key blocks are updated
  int keys;    // per block of keys, a multiple of outer_rows: what stays in the second-level cache with its
  int wide_keys;  // gradients while queries stream by; wide_keys for a head_dim beyond 96
  int lanes;
  int outer_rows;  // divides width
  void (*gradients)(const GradientArgs&);
  void (*key_gradients)(const KeyGradientArgs&);
  void (*query_gradients)(const QueryGradientArgs&);
  // rows x dim floats, times scale -> strips for `room` >= rows rows, the rest zero.
  void (*pack_strips)(const float* from, int64_t stride, int rows, int room, int dim, float scale, float* to);
  bool (*all_finite)(const float* from, int64_t stride, int rows, int dim);
  // out[lane] = sum over c of a[c][lane] * b[c][lane], in the order in which gradients sums dp: where one key
  // has all the weight, dp - delta is exactly zero.
  void (*lane_dots)(const float* a, const float* b, int dim, float* out);
  void (*transpose)(const float* from, int64_t from_stride, int rows, int columns, float scale, float* to,
                    int64_t to_stride);
  // to[r][c] += from[r][c]
  void (*add_rows)(const float* from, int64_t from_stride, int rows, int columns, float* to,
                   int64_t to_stride);
};

}  // namespace counterpoise
