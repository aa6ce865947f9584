// SPDX-License-Identifier: Apache-2.0
#include "exec/step_tensors.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "counterpoise/error.h"
#include "counterpoise/random.h"

namespace counterpoise {
namespace {

uint64_t combine(uint64_t hash, uint64_t value) {
  return (hash ^ value) * 0x9e3779b97f4a7c15ull + (hash >> 29);
}

}  // namespace

void RandomSource::fill(RandomTensor tensor, int32_t document, int64_t position, int32_t head, int64_t dim,
                        float* row) const {
  uint64_t stream = static_cast<uint64_t>(tensor);
  for (const int64_t part : {static_cast<int64_t>(group), static_cast<int64_t>(window),
                             static_cast<int64_t>(document), position, static_cast<int64_t>(head)}) {
    stream = combine(stream, static_cast<uint64_t>(part) + 1);
  }
  constexpr float kScale = 1.7320508f * 0x1p-31f;  // uniform on +-sqrt(3) has variance 1
  RandomStream random(seed, stream);
  uint64_t bits = 0;
  for (int64_t i = 0; i < dim; ++i) {
    bits = i % 2 == 0 ? random.next() : bits >> 32;
    row[i] = static_cast<float>(static_cast<int32_t>(static_cast<uint32_t>(bits))) * kScale;
  }
}

WindowTensors::WindowTensors(const StepPlan& plan, int32_t group, int32_t window_index, int32_t rank,
                             MemoryCounter& counter, Communicator* keys_shared)
    : shape_(plan.shape), counter_(counter) {
  const WindowPlan& window =
      plan.groups[static_cast<size_t>(group)].windows[static_cast<size_t>(window_index)];
  const bool backward = !window.backward.programs.empty();
  rows_ = window.rows(window.placement[static_cast<size_t>(rank)]);
  const auto slot = [&](Payload payload) -> CountedFloats& { return memory_[static_cast<size_t>(payload)]; };
  slot(Payload::kQ) = make(shape_.heads, Payload::kQ);
  slot(Payload::kKv) = make(shape_.kv_heads, Payload::kKv, keys_shared);
  slot(Payload::kPartial) = make(shape_.heads, Payload::kPartial);
  if (backward) {
    slot(Payload::kQBack) = make(shape_.heads, Payload::kQBack);
    slot(Payload::kDq) = make(shape_.heads, Payload::kDq);
    slot(Payload::kDkv) = make(shape_.kv_heads, Payload::kDkv);
  }
  fill_random(window, {plan.seed, group, window_index}, rank, backward);
}

CountedFloats WindowTensors::make(int32_t heads, Payload payload, Communicator* shared) {
  return {counter_, rows_ * heads * payload_width(shape_, payload), shared};
}

Rows WindowTensors::home(Payload payload) const {
  const int32_t heads = counts_kv_heads(payload) ? shape_.kv_heads : shape_.heads;
  return {memory_[static_cast<size_t>(payload)].data(), {0, heads}, payload_width(shape_, payload)};
}

void WindowTensors::fill_random(const WindowPlan& window, const RandomSource& source, int32_t rank,
                                bool backward) {
  const int64_t d = shape_.head_dim, dv = shape_.v_head_dim;
  for (const PlanPiece& piece : window.list(window.placement[static_cast<size_t>(rank)])) {
    for (int64_t i = 0; i < piece.range.size(); ++i) {
      const int64_t position = piece.range.begin + i, row = piece.row + i;
      const auto fill = [&](RandomTensor tensor, int32_t head, int64_t dim, float* into) {
        source.fill(tensor, piece.document, position, head, dim, into);
      };
      for (int32_t head = 0; head < shape_.heads; ++head) {
        fill(RandomTensor::kQ, head, d, home(Payload::kQ).at(row, head));
        if (backward) fill(RandomTensor::kDout, head, dv, home(Payload::kQBack).at(row, head) + d);
      }
      for (int32_t head = 0; head < shape_.kv_heads; ++head) {
        fill(RandomTensor::kK, head, d, home(Payload::kKv).at(row, head));
        fill(RandomTensor::kV, head, dv, home(Payload::kKv).at(row, head) + d);
      }
    }
  }
}

void WindowTensors::clear_results(bool backward) {
  const auto zero = [&](Payload payload) {
    const CountedFloats& memory = memory_[static_cast<size_t>(payload)];
    std::fill_n(memory.data(), memory.size(), 0.0f);
  };
  if (backward) {
    zero(Payload::kDq);
    zero(Payload::kDkv);
    return;
  }
  zero(Payload::kPartial);
  const Rows partial = home(Payload::kPartial);
  for (int64_t i = 0; i < rows_ * shape_.heads; ++i) {
    partial.data[i * partial.width + shape_.v_head_dim] = -std::numeric_limits<float>::infinity();
  }
}

void WindowTensors::prepare_backward() {
  const Rows q = home(Payload::kQ), partial = home(Payload::kPartial), back = home(Payload::kQBack);
  const int64_t d = shape_.head_dim, dv = shape_.v_head_dim;
  for (int64_t i = 0; i < rows_ * shape_.heads; ++i) {
    float* row = back.data + i * back.width;
    const float* out = partial.data + i * partial.width;
    std::memcpy(row, q.data + i * q.width, static_cast<size_t>(d) * sizeof(float));
    double delta = 0;
    for (int64_t j = 0; j < dv; ++j) delta += static_cast<double>(out[j]) * row[d + j];
    row[d + dv] = out[dv];
    row[d + dv + 1] = static_cast<float>(delta);
  }
}

}  // namespace counterpoise
