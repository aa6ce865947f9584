// SPDX-License-Identifier: Apache-2.0
#include "cost/document_profile.h"

#include <nlohmann/json.hpp>

#include "counterpoise/error.h"

namespace counterpoise {
namespace {

// Pairs of a causal document. A double is exact up to lengths of 2^26 and right to 1e-16 beyond.
double causal_pairs(int64_t length) {
  const double n = static_cast<double>(length);
  return n * (n + 1) / 2;
}

void require_forward(const Profile& profile, Direction direction) {
  if (direction == Direction::kForward) return;
  throw_error(ErrorKind::kUsage,
              "profile '{}' knows the forward pass only; take one that was calibrated with backward",
              profile.info().name);
}

}  // namespace

double AreaProfile::piece_time(int64_t length, int64_t cp) const {
  CP_CHECK(length >= 0 && cp >= 1);
  return causal_pairs(length) / static_cast<double>(cp);
}

double AreaProfile::call_time(std::span<const CallTile> call, Direction direction) const {
  require_forward(*this, direction);
  double pairs = 0;
  for (const CallTile& tile : call)
    pairs += static_cast<double>(tile.work.area) * static_cast<double>(tile.work.shape.heads);
  return pairs;
}

double DocumentProfile::penalty(double length, double cp) const {
  const double most = tables_.penalty_cps.back();
  if (cp > most) return penalty(length * most / cp, most);
  return interpolate(tables_.penalty_lengths, tables_.penalty_cps, tables_.penalty, length, cp);
}

double DocumentProfile::piece_time(int64_t length, int64_t cp) const {
  CP_CHECK(length >= 0 && cp >= 1);
  if (length == 0) return 0;
  const double tokens = static_cast<double>(length), ranks = static_cast<double>(cp);
  const double speed = interpolate(tables_.curve_lengths, tables_.tflops, tokens) * 1e12;
  return causal_pairs(length) * tables_.flops_per_pair / speed / ranks * penalty(tokens, ranks);
}

// Two matrix products of 2 flops per pair and element of the head dimensions, at the speed of a whole
// document.
double DocumentProfile::call_time(std::span<const CallTile> call, Direction direction) const {
  require_forward(*this, direction);
  double seconds = 0, per_flop = 0;
  int64_t length = -1, rows = -1;  // that per_flop is for
  for (const CallTile& tile : call) {
    if (tile.length != length || tile.rows != rows) {
      length = tile.length;
      rows = tile.rows;
      const double tokens = static_cast<double>(length);
      const double speed = interpolate(tables_.curve_lengths, tables_.tflops, tokens) * 1e12;
      per_flop = penalty(tokens, tokens / static_cast<double>(rows)) / speed;
    }
    const CostShape& shape = tile.work.shape;
    const double flops = 2.0 * static_cast<double>((shape.head_dim + shape.v_head_dim) * shape.heads);
    seconds += static_cast<double>(tile.work.area) * flops * per_flop;
  }
  return seconds;
}

bool DocumentProfile::extrapolated(int64_t length, int64_t cp) const {
  if (length == 0 || cp == 1) return false;
  const double tokens = static_cast<double>(length);
  return static_cast<double>(cp) > tables_.penalty_cps.back() || tokens < tables_.penalty_lengths.front() ||
         tokens > tables_.penalty_lengths.back();
}

Range DocumentProfile::measured_lengths() const {
  return {static_cast<int64_t>(tables_.curve_lengths.front()),
          static_cast<int64_t>(tables_.curve_lengths.back()) + 1};
}

std::string DocumentProfile::model_json() const {
  nlohmann::ordered_json model;
  model["kind"] = "documents";
  model["flops_per_pair"] = tables_.flops_per_pair;
  model["curve"] = {{"length", tables_.curve_lengths.positions()}, {"tflops", tables_.tflops}};
  model["penalty"] = {{"length", tables_.penalty_lengths.positions()},
                      {"cp", tables_.penalty_cps.positions()},
                      {"value", tables_.penalty}};
  return model.dump();
}

}  // namespace counterpoise
