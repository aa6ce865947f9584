// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "counterpoise/attention.h"

namespace counterpoise {

// What a backend is given: everything checked, defaults resolved.
struct AttentionProblem {
  std::span<const AttentionTile> tiles;
  HeadShape shape;
  Mask mask;
  int threads = 1;
  bool accumulate = false;

  int64_t group() const { return shape.heads / shape.kv_heads; }
};

// Whether the caller brings delta, so that `out` is not read.
inline bool has_delta(const BackwardTensors& tensors) {
  return tensors.delta.data != nullptr;
}

struct Backend {
  void (*forward)(const AttentionProblem&, const ForwardTensors&);
  void (*backward)(const AttentionProblem&, const BackwardTensors&);
};

// Null where the build has no such backend.
const Backend* backend_of(Isa isa);

// kAuto -> the fastest this CPU runs; otherwise the requested one or an Error. Only kAuto and kAmx ask for
// the permission to use tiles (tiles/cpu.h).
Isa resolve_isa(Isa requested);

}  // namespace counterpoise
