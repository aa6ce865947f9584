// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "counterpoise/execute.h"
#include "exec/counted_memory.h"
#include "exec/rows.h"

namespace counterpoise {

// Which of a token's random tensors.
enum class RandomTensor : uint64_t { kQ, kK, kV, kDout };

// Where a random row comes from: every rank can make any row of any window by itself.
struct RandomSource {
  uint64_t seed = 0;
  int32_t group = 0;
  int32_t window = 0;

  // Uniform with mean 0 and variance 1; a function of the arguments only.
  void fill(RandomTensor tensor, int32_t document, int64_t position, int32_t head, int64_t dim,
            float* row) const;
};

// What a rank holds of one window: its home buffers of both passes, as the caller of a training step would.
class WindowTensors {
 public:
  // Random q, k, v and, for backward, dout; results undefined. `keys_shared`: where keys and values lie when
  // other ranks read them in place, else null.
  WindowTensors(const StepPlan& plan, int32_t group, int32_t window, int32_t rank, MemoryCounter& counter,
                Communicator* keys_shared);

  Rows home(Payload payload) const;
  int64_t rows() const { return rows_; }

  // Results as identity.
  void clear_results(bool backward);
  // q, dout, lse and delta of kQBack from the forward results.
  void prepare_backward();

 private:
  CountedFloats make(int32_t heads, Payload payload, Communicator* shared = nullptr);
  void fill_random(const WindowPlan& window, const RandomSource& source, int32_t rank, bool backward);

  AttentionShape shape_;
  MemoryCounter& counter_;
  int64_t rows_ = 0;
  CountedFloats memory_[kPayloads];  // by payload
};

}  // namespace counterpoise
