// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "counterpoise/attention.h"

namespace counterpoise {

// The specification of attention: plain loops over the whole matrix, no blocking, no SIMD, no threads.
// Real = double is the oracle; Real = float is the plain same-precision computation whose error bounds ours.
template <typename Real>
struct ReferenceOutput {
  std::vector<Real> out;  // [q rows][heads][v_head_dim]
  std::vector<Real> lse;  // [q rows][heads]
};

template <typename Real>
struct ReferenceGradients {
  std::vector<Real> dq, dk, dv;  // contiguous [rows][heads][dim]
  // Largest magnitude among the terms that were summed: cancellation leaves errors of its size.
  Real largest_dq_term = 0, largest_dk_term = 0, largest_dv_term = 0;
};

// Rows in no tile get the identity (0, -inf).
template <typename Real>
ReferenceOutput<Real> reference_forward(std::span<const AttentionTile> tiles, const HeadShape& shape,
                                        Mask mask, const ConstTensorView& q, const ConstTensorView& k,
                                        const ConstTensorView& v);

// Gradients of the tiles' pairs, given the output of the whole rows.
template <typename Real>
ReferenceGradients<Real> reference_backward(std::span<const AttentionTile> tiles, const HeadShape& shape,
                                            Mask mask, const ConstTensorView& q, const ConstTensorView& k,
                                            const ConstTensorView& v, const ConstTensorView& dout,
                                            const ReferenceOutput<Real>& output);

}  // namespace counterpoise
