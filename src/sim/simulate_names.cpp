// SPDX-License-Identifier: Apache-2.0
#include "counterpoise/error.h"
#include "counterpoise/simulate.h"

namespace counterpoise {

WindowOrder parse_window_order(std::string_view name) {
  if (name == "shuffle") return WindowOrder::kShuffle;
  if (name == "stream") return WindowOrder::kStream;
  throw_error(ErrorKind::kUsage, "--window-order: unknown order '{}'; one of shuffle, stream", name);
}

Regime parse_regime(std::string_view name) {
  if (name == "fixed") return Regime::kFixed;
  if (name == "grow") return Regime::kGrow;
  throw_error(ErrorKind::kUsage, "--regime: unknown regime '{}'; one of fixed, grow", name);
}

Sync parse_sync(std::string_view name) {
  if (name == "step") return Sync::kStep;
  if (name == "micro_batch") return Sync::kMicroBatch;
  throw_error(ErrorKind::kUsage, "--sync: unknown barrier '{}'; one of step, micro_batch", name);
}

std::string name_of(WindowOrder order) {
  return order == WindowOrder::kShuffle ? "shuffle" : "stream";
}
std::string name_of(Regime regime) {
  return regime == Regime::kFixed ? "fixed" : "grow";
}
std::string name_of(Sync sync) {
  return sync == Sync::kStep ? "step" : "micro_batch";
}

}  // namespace counterpoise
