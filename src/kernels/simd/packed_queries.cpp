// SPDX-License-Identifier: Apache-2.0
#include "kernels/simd/packed_queries.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/simd/float_rows.h"

namespace counterpoise {

PackedQueries::PackedQueries(const BackwardKernels& kernels, const AttentionProblem& problem,
                             const BackwardTensors& tensors, const QueryBlocks& queries, Range heads)
    : kernels_(kernels),
      problem_(problem),
      tensors_(tensors),
      queries_(queries),
      heads_(heads),
      panel_floats_(floats_per_panel(kernels, problem.shape)),
      buffer_(panel_floats_ * static_cast<int64_t>(queries.panels.size()) * heads.size()) {}

int64_t PackedQueries::floats_per_panel(const BackwardKernels& kernels, const HeadShape& shape) {
  const int64_t d = shape.head_dim, dv = shape.v_head_dim;
  return kernels.width * (d + dv + 2 + round_up(d, kernels.lanes) + round_up(dv, kernels.lanes));
}

int64_t PackedQueries::staging_floats() const {
  return kernels_.width * (problem_.shape.head_dim + 3 * problem_.shape.v_head_dim);
}

PackedQueries::Panel PackedQueries::panel(int64_t panel, int64_t head) const {
  const int64_t width = kernels_.width, count = static_cast<int64_t>(queries_.panels.size());
  Panel p;
  p.q = buffer_.data() + ((head - heads_.begin) * count + panel) * panel_floats_;
  p.dout = p.q + problem_.shape.head_dim * width;
  p.lse = p.dout + problem_.shape.v_head_dim * width;
  p.delta = p.lse + width;
  p.q_strips = p.delta + width;
  p.dout_strips = p.q_strips + round_up(problem_.shape.head_dim, kernels_.lanes) * width;
  return p;
}

bool PackedQueries::pack(int64_t index, int64_t head, float* staging) {
  const Range rows = queries_.panels[index];
  const Panel p = panel(index, head);
  const int count = static_cast<int>(rows.size()), width = kernels_.width;
  const int d = static_cast<int>(problem_.shape.head_dim), dv = static_cast<int>(problem_.shape.v_head_dim);
  const float scale = static_cast<float>(problem_.shape.softmax_scale);
  const FloatRows q = float_rows(tensors_.q, rows, head, staging);
  const FloatRows dout = float_rows(tensors_.dout, rows, head, staging + width * d);

  if (count < width) std::fill_n(p.q, width * (d + dv), 0.0f);
  kernels_.transpose(q.data, q.stride, count, d, scale, p.q, width);
  kernels_.transpose(dout.data, dout.stride, count, dv, 1, p.dout, width);
  kernels_.pack_strips(q.data, q.stride, count, width, d, scale, p.q_strips);
  kernels_.pack_strips(dout.data, dout.stride, count, width, dv, 1, p.dout_strips);
  pack_delta(rows, head, p, staging + width * (d + dv));

  bool finite = kernels_.all_finite(q.data, q.stride, count, d) &&
                kernels_.all_finite(dout.data, dout.stride, count, dv);
  std::fill_n(p.lse, width, std::numeric_limits<float>::infinity());
  for (int i = 0; i < count; ++i) {
    const float lse = *static_cast<const float*>(row_address(tensors_.lse, rows.begin + i, head));
    if (lse == -std::numeric_limits<float>::infinity()) {
      p.delta[i] = 0;  // a row without keys takes no part, whatever its out holds
      continue;
    }
    p.lse[i] = lse;
    finite = finite && std::isfinite(lse) && std::isfinite(p.delta[i]);
  }
  return finite;
}

void PackedQueries::pack_delta(Range rows, int64_t head, const Panel& p, float* staging) const {
  const int count = static_cast<int>(rows.size()), width = kernels_.width,
            dv = static_cast<int>(problem_.shape.v_head_dim);
  if (has_delta(tensors_)) {
    std::fill_n(p.delta, width, 0.0f);
    for (int i = 0; i < count; ++i)
      p.delta[i] = *static_cast<const float*>(row_address(tensors_.delta, rows.begin + i, head));
    return;
  }
  const FloatRows out = float_rows(tensors_.out, rows, head, staging);
  float* out_panel = staging + width * dv;
  if (count < width) std::fill_n(out_panel, width * dv, 0.0f);
  kernels_.transpose(out.data, out.stride, count, dv, 1, out_panel, width);
  kernels_.lane_dots(p.dout, out_panel, dv, p.delta);
}

}  // namespace counterpoise
