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

}  // namespace

double AreaProfile::piece_time(int64_t length, int64_t cp) const {
  CP_CHECK(length >= 0 && cp >= 1);
  return causal_pairs(length) / static_cast<double>(cp);
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
