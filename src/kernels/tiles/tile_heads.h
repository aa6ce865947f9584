// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <atomic>
#include <vector>

#include "kernels/backend.h"
#include "kernels/dtype.h"
#include "kernels/tiles/tile_kernels.h"

namespace counterpoise {

// Configures the tile registers of this thread for as long as it lives.
class TileSession {
 public:
  explicit TileSession(const TileKernels& kernels) : kernels_(kernels) { kernels_.configure(); }
  ~TileSession() { kernels_.release(); }
  TileSession(const TileSession&) = delete;
  TileSession& operator=(const TileSession&) = delete;

 private:
  const TileKernels& kernels_;
};

inline const uint16_t* bfloat16_row(const ConstTensorView& t, int64_t row, int64_t head) {
  return static_cast<const uint16_t*>(t.data) + row * t.token_stride + head * t.head_stride;
}

// Which key/value heads tile products may compute. They flush denormals to zero and sum whole blocks, so a
// head with an infinity, a NaN or values near the ends of the range is left to float32 arithmetic. Threads
// may note magnitudes at the same time.
class TileHeads {
 public:
  enum Tensor { kQ, kK, kV, kDout, kTensors };

  explicit TileHeads(const AttentionProblem& problem);

  void note(int64_t kv_head, Tensor tensor, uint16_t magnitude);
  // Leaves the head to float32.
  void refuse(int64_t kv_head) { heads_[kv_head].refused.store(true, std::memory_order_relaxed); }
  bool forward_fits(int64_t kv_head) const;
  bool backward_fits(int64_t kv_head) const;

 private:
  struct Head {
    std::array<std::atomic<uint16_t>, kTensors> magnitude{};
    std::atomic<bool> refused{false};
  };
  float largest(int64_t kv_head, Tensor tensor) const;
  bool bounded(int64_t kv_head) const;

  float softmax_scale_;
  std::vector<Head> heads_;
};

// The problem of one key/value head and its query heads, in views of its own.
class OneHead {
 public:
  OneHead(const AttentionProblem& problem, int64_t kv_head);
  OneHead(const OneHead&) = delete;
  OneHead& operator=(const OneHead&) = delete;

  const AttentionProblem& problem() const { return problem_; }
  template <class View>
  View of_queries(View t) const {
    return part(t, first_head_, problem_.shape.heads);
  }
  template <class View>
  View of_keys(View t) const {
    return part(t, kv_head_, 1);
  }

 private:
  template <class View>
  static View part(View t, int64_t head, int64_t count) {
    t.data = row_address(t, 0, head);
    t.heads = count;
    return t;
  }

  int64_t kv_head_, first_head_;
  std::vector<AttentionTile> tiles_;
  AttentionProblem problem_;
};

inline int tile_pairs(int64_t dim) {
  return static_cast<int>((dim + kPairRows - 1) / kPairRows);
}

}  // namespace counterpoise
