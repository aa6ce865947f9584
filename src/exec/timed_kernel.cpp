// SPDX-License-Identifier: Apache-2.0
#include <time.h>

#include <algorithm>
#include <cstring>

#include "counterpoise/calibrate_cpu.h"
#include "counterpoise/error.h"
#include "counterpoise/random.h"

namespace counterpoise {
namespace {

double thread_cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// The upper 16 bits of a float32 are a bfloat16; float16 values come from a small table of exact ones.
uint16_t sixteen_bits(float value, DType dtype) {
  if (dtype == DType::kBFloat16) {
    uint32_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    return static_cast<uint16_t>(bits >> 16);
  }
  // Sign, exponent 2^-3 ... 2^1 and ten random bits of fraction: normal-looking and never special.
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  const uint32_t exponent = 12 + (bits >> 10) % 4;
  return static_cast<uint16_t>((bits >> 16 & 0x8000) | exponent << 10 | (bits & 0x3ff));
}

std::vector<std::byte> random_tensor(int64_t count, DType dtype, RandomStream& random) {
  std::vector<std::byte> data(static_cast<size_t>(count * dtype_bytes(dtype)));
  for (int64_t i = 0; i < count; ++i) {
    const float value = static_cast<float>(random.normal());
    const uint16_t half = sixteen_bits(value, dtype);
    if (dtype == DType::kFloat32)
      std::memcpy(data.data() + i * 4, &value, 4);
    else
      std::memcpy(data.data() + i * 2, &half, 2);
  }
  return data;
}

}  // namespace

CostShape cost_shape(const HeadShape& heads, DType dtype) {
  return {heads.heads, heads.kv_heads, heads.head_dim, heads.value_dim(), dtype_bytes(dtype)};
}

TimedKernel::TimedKernel(const CalibrationOptions& options, int64_t max_rows)
    : options_(options), rows_(max_rows) {
  RandomStream random(options.seed);
  const HeadShape& heads = options.heads;
  const int64_t q = rows_ * heads.heads, kv = rows_ * heads.kv_heads;
  q_ = random_tensor(q * heads.head_dim, options.dtype, random);
  k_ = random_tensor(kv * heads.head_dim, options.dtype, random);
  v_ = random_tensor(kv * heads.value_dim(), options.dtype, random);
  out_ = random_tensor(q * heads.value_dim(), options.dtype, random);
  lse_.assign(static_cast<size_t>(q), 5.0f);
  if (!options.backward) return;
  dout_ = random_tensor(q * heads.value_dim(), options.dtype, random);
  dq_.resize(static_cast<size_t>(q * heads.head_dim));
  dk_.resize(static_cast<size_t>(kv * heads.head_dim));
  dv_.resize(static_cast<size_t>(kv * heads.value_dim()));
}

std::vector<AttentionTile> TimedKernel::place(std::span<const WorkShape> tiles) const {
  std::vector<AttentionTile> placed;
  int64_t q_row = 0, kv_row = 0, next_kv_row = 0;
  for (const WorkShape& work : tiles) {
    if (work.new_kv_rows < 0) kv_row = next_kv_row;
    placed.push_back({{work.kv_rows - work.q_rows, work.kv_rows},
                      {0, work.kv_rows},
                      {0, work.shape.heads},
                      q_row,
                      kv_row});
    q_row += work.q_rows;
    next_kv_row = std::max(next_kv_row, kv_row + work.kv_rows);
    if (q_row > rows_ || next_kv_row > rows_)
      throw_error(ErrorKind::kUsage,
                  "a call of {} query and {} key rows does not fit the {} rows of this timer", q_row,
                  next_kv_row, rows_);
  }
  return placed;
}

double TimedKernel::run(std::span<const WorkShape> tiles, Direction direction) {
  const std::vector<AttentionTile> placed = place(tiles);
  return run(placed, direction);
}

double TimedKernel::run_reference() {
  const int64_t rows = std::min<int64_t>(rows_, 256);
  const AttentionTile tile{{0, rows}, {0, rows}, {0, 1}, 0, 0};
  return run({&tile, 1}, Direction::kForward);
}

double TimedKernel::run(std::span<const AttentionTile> placed, Direction direction) {
  const HeadShape& heads = options_.heads;
  const ConstTensorView q =
      packed_view(static_cast<const void*>(q_.data()), options_.dtype, rows_, heads.heads, heads.head_dim);
  const ConstTensorView k =
      packed_view(static_cast<const void*>(k_.data()), options_.dtype, rows_, heads.kv_heads, heads.head_dim);
  const ConstTensorView v = packed_view(static_cast<const void*>(v_.data()), options_.dtype, rows_,
                                        heads.kv_heads, heads.value_dim());
  const TensorView out =
      packed_view(static_cast<void*>(out_.data()), options_.dtype, rows_, heads.heads, heads.value_dim());
  const TensorView lse = lse_view(lse_.data(), rows_, heads.heads);
  AttentionOptions options;
  options.isa = options_.isa;
  const double begin = thread_cpu_seconds();
  if (direction == Direction::kForward) {
    isa_ = attention_forward(placed, heads, Mask::causal(), {q, k, v, out, lse}, options).isa;
    return thread_cpu_seconds() - begin;
  }
  CP_CHECK(options_.backward);
  const ConstTensorView dout = packed_view(static_cast<const void*>(dout_.data()), options_.dtype, rows_,
                                           heads.heads, heads.value_dim());
  isa_ = attention_backward(
             placed, heads, Mask::causal(),
             {q, k, v, out, lse, dout, packed_view(dq_.data(), rows_, heads.heads, heads.head_dim),
              packed_view(dk_.data(), rows_, heads.kv_heads, heads.head_dim),
              packed_view(dv_.data(), rows_, heads.kv_heads, heads.value_dim())},
             options)
             .isa;
  return thread_cpu_seconds() - begin;
}

}  // namespace counterpoise
