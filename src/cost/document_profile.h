// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <utility>
#include <vector>

#include "cost/log_interpolation.h"
#include "counterpoise/profile.h"

namespace counterpoise {

// Speed of the kernel on whole causal documents, and what cutting one into shares costs on top.
struct DocumentTables {
  double flops_per_pair;                     // 4 x head_dim x heads forward: two products, multiply and add
  LogAxis curve_lengths;                     // tokens
  std::vector<double> tflops;                // at curve_lengths, 1e12 flop/s
  LogAxis penalty_lengths;                   // tokens
  LogAxis penalty_cps;                       // ranks, from 1
  std::vector<std::vector<double>> penalty;  // [length][cp] = cp x time of a share / time of the whole
};

// time(L) = flops(L) / speed(L) with the speed log-interpolated and held outside its curve. penalty is
// bilinear in (log L, log c); beyond the last measured c it is that of equally thin shares there:
// penalty(L, c) = penalty(L c_max / c, c_max).
class DocumentProfile : public Profile {
 public:
  DocumentProfile(ProfileInfo info, DocumentTables tables)
      : Profile(std::move(info)), tables_(std::move(tables)) {}
  double piece_time(int64_t length, int64_t cp) const override;
  double call_time(std::span<const CallTile> call, Direction direction) const override;
  bool extrapolated(int64_t length, int64_t cp) const override;
  Range measured_lengths() const override;
  std::string model_json() const override;

 private:
  double penalty(double length, double cp) const;

  DocumentTables tables_;
};

// Cost = unmasked pairs: what every model of attention tends to for long documents.
class AreaProfile : public Profile {
 public:
  explicit AreaProfile(ProfileInfo info) : Profile(std::move(info)) {}
  double piece_time(int64_t length, int64_t cp) const override;
  double call_time(std::span<const CallTile> call, Direction direction) const override;
  bool extrapolated(int64_t, int64_t) const override { return false; }
  std::string model_json() const override { return R"({"kind": "area"})"; }
};

}  // namespace counterpoise
