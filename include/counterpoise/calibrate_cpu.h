// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "counterpoise/attention.h"
#include "counterpoise/kernel_profile.h"

namespace counterpoise {

// What of this machine is measured. One thread: a profile prices one rank of one core.
struct CalibrationOptions {
  HeadShape heads;
  DType dtype = DType::kFloat32;  // of q, k, v and out
  Isa isa = Isa::kAuto;
  bool backward = false;
  int64_t max_tokens = 4096;  // of one call
  double budget_seconds = 6;  // wall clock; at least three rounds are made
  uint64_t seed = 1;
};

// Measures the attention kernel on a grid of calls and fits a profile to it. The grid packs equal documents
// of a length from every half octave, few and many, and mixtures of log-uniform lengths, all whole
// and as zigzag shares for cp = 2 ... 16. Each round runs every call once, in random order; the time of a
// call is the median of the runs that found the core as fast as usual, on the thread's CPU clock. The grid,
// its times, fit and 5-fold cross-validated errors, by how much times from half of the rounds differ from
// those of the other half, and what a reference call usually took are recorded in info().calibration.
//   options.dtype other than float32 is converted once, not per call.
KernelProfilePtr calibrate_cpu(
    const CalibrationOptions& options,
    const std::function<void(const std::string& what, double done)>& progress = {});

// Median error of the calls of such a profile, each predicted by a fit to the other four fifths; 0 where the
// profile does not record one.
double cross_validated_error(const KernelProfile& profile, Direction direction = Direction::kForward);

// The instruction set that such a profile was measured with; empty where it does not record one.
std::string calibrated_isa(const KernelProfile& profile);

// Seconds that TimedKernel::run_reference usually took in the calibration; 0 where such a profile does not
// record them.
double calibrated_reference(const KernelProfile& profile);

// The head shape as the cost model wants it.
CostShape cost_shape(const HeadShape& heads, DType dtype);

// Runs the kernel on random tensors and times it. For calibration and for whoever wants to check a profile.
// Not thread safe. Tile i of a call takes q rows after those of tile i - 1, and kv rows after those of the
// last tile that brought new ones (see WorkShape::new_kv_rows).
class TimedKernel {
 public:
  // `max_rows`: the most q rows or kv rows of a call.
  TimedKernel(const CalibrationOptions& options, int64_t max_rows);

  // CPU seconds of the calling thread for one call over causal tiles. kUsage when they need more rows.
  double run(std::span<const WorkShape> tiles, Direction direction);
  // The same for tiles that lie where they say, q and kv rows below max_rows.
  double run(std::span<const AttentionTile> tiles, Direction direction);
  // As run(), of a short forward call that is always the same: how fast the core is now.
  double run_reference();
  Isa isa() const { return isa_; }  // that ran last

 private:
  std::vector<AttentionTile> place(std::span<const WorkShape> tiles) const;

  CalibrationOptions options_;
  int64_t rows_;
  std::vector<std::byte> q_, k_, v_, out_, dout_;
  std::vector<float> lse_, dq_, dk_, dv_;
  Isa isa_ = Isa::kAuto;
};

}  // namespace counterpoise
