// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "counterpoise/plan.h"

// Checks a plan without trusting, or sharing code with, whoever made it. It counts pairs by itself.
namespace counterpoise {

struct VerifyOptions {
  int64_t memory_limit = 0;     // bytes of buffers alive at once on one rank; 0: none
  int32_t max_violations = 16;  // stop collecting after this many
};

struct Violation {
  std::string
      rule;  // a short name: "coverage", "structure", "message", "deadlock", "data", "result", "memory"
  std::string message;  // where and what: group, window, pass, rank, op, document
  auto operator<=>(const Violation&) const = default;
};

struct VerifyReport {
  std::vector<Violation> violations;  // empty: the plan is valid
  double pairs = 0;                   // unmasked (q, kv, query head) triples of one pass, all windows
  int64_t peak_bytes = 0;             // most bytes of buffers alive at once on any rank, either pass
  bool ok() const { return violations.empty(); }
};

// What is proven when ok():
// - Every token is held once; every unmasked (q, kv, query head) of every document is computed exactly once
// per pass.
// - Every message is posted once by its sender and once by its receiver, with rows and heads that both
// buffers have
//   and the bytes they take, and each side waits for it once, after posting it.
// - No interleaving gets stuck, even if a send completes only when its receive is posted: posts do not block
// and a
//   wait names one message, so running the programs greedily once decides it for all interleavings.
// - What a tile, a merge or a message reads has arrived or been completed before; nothing in flight is
// written to.
// - Every partial result reaches the holder of its rows exactly once: it is sent on once, after everything
// was added
//   to it, and what arrives is merged once.
// - No buffer is used outside its lifetime, and those alive at once fit in the limit.
// Never reads out of bounds, whatever the plan's indices are.
VerifyReport verify(const StepPlan& plan, const VerifyOptions& options = {});

// Throws kCheckFailed with the first violations.
void require_valid(const StepPlan& plan, const VerifyOptions& options = {});

}  // namespace counterpoise
