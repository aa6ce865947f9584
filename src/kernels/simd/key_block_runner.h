// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kernels/backend.h"
#include "kernels/simd/backward_args.h"
#include "kernels/simd/backward_plan.h"
#include "kernels/simd/buffer.h"
#include "kernels/simd/float_rows.h"
#include "kernels/simd/packed_queries.h"

namespace counterpoise {

// Works through one item of the backward plan: a block of keys of one key/value head, its dk and dv.
class KeyBlockRunner {
 public:
  KeyBlockRunner(const BackwardKernels& kernels, const AttentionProblem& problem,
                 const BackwardTensors& tensors, const KvBlocks& kv, const QueryBlocks& queries,
                 const PackedQueries& packed);

  void begin(const BackwardPlan::Item& item);
  // p and ds of the visit, and what they add to the block's dk and dv.
  void attend(const BackwardPlan::Visit& visit);
  // What the visit adds to dq.
  void add_query_gradients();
  // Adds the block's dk and dv to the tensors.
  void finish();

 private:
  struct PanelKeys {
    Range rows;
    int64_t head;
    int begin, end, low, high;
  };

  void attend_panel(const BackwardPlan::Visit& visit, int64_t index);
  void add_rows(const float* from, int64_t stride, const TensorView& to) const;
  int keys() const { return static_cast<int>(rows_.size()); }
  int dim() const { return static_cast<int>(problem_.shape.head_dim); }

  const BackwardKernels& kernels_;
  const AttentionProblem& problem_;
  const BackwardTensors& tensors_;
  const KvBlocks& kv_;
  const QueryBlocks& queries_;
  const PackedQueries& packed_;
  const int64_t max_keys_, k_columns_, v_columns_, weights_floats_;
  // In one block: malloc gives several back to the system at the end of every short call.
  Buffer memory_;
  float *const weights_, *const k_strips_, *const dk_, *const dv_, *const staging_;
  FloatRows k_{}, v_{};
  Range rows_;
  int64_t kv_head_ = 0;
  int panel_count_ = 0;
  PanelKeys panels_[KeyGradientArgs::kMaxPanels];
  KeyGradientArgs::Panel dv_panels_[KeyGradientArgs::kMaxPanels], dk_panels_[KeyGradientArgs::kMaxPanels];
};

}  // namespace counterpoise
