// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "counterpoise/verify.h"

// Inside of the verifier. Nothing here may include headers of the planners.
namespace counterpoise::verifier {

// Pairs times heads, and bytes of a hostile plan, need more than 64 bits.
__extension__ using Wide = __int128;

// Collects violations of one pass and says where they are.
class Findings {
 public:
  Findings(VerifyReport& report, const VerifyOptions& options, std::string where)
      : report_(report), limit_(options.max_violations), where_(std::move(where)) {}

  template <typename... Args>
  void add(const char* rule, fmt::format_string<Args...> format, Args&&... args) {
    ++count_;
    if (static_cast<int32_t>(report_.violations.size()) >= limit_) return;
    report_.violations.push_back({rule, where_ + fmt::format(format, std::forward<Args>(args)...)});
  }
  bool none() const { return count_ == 0; }

 private:
  VerifyReport& report_;
  int32_t limit_;
  int64_t count_ = 0;
  std::string where_;
};

// One pass of one window under examination.
struct Case {
  const StepPlan& plan;
  const WindowPlan& window;
  const Pass& pass;
  bool backward;
  Findings& findings;

  int32_t cp() const { return plan.cp; }
  std::span<const PlanPiece> list(Pieces of) const { return window.list(of); }
};

// Unmasked pairs of q x kv, summed along diagonals.
int64_t count_pairs(Range q, Range kv, const Mask& mask);

// Indices, list order, shapes and bytes: afterwards everything may be read without bounds checks.
void check_window(const StepPlan& plan, const WindowPlan& window, Findings& findings);
void check_structure(const Case& c);
// Which tile of which rank computes what.
void check_coverage(const Case& c);
// Posts, waits and the absence of deadlock.
void check_messages(const Case& c);
// Order of reads and writes within each rank, and the way of results home.
void check_data(const Case& c);
// Lifetimes; returns the most bytes alive at once on any rank.
int64_t check_memory(const Case& c, int64_t limit);

}  // namespace counterpoise::verifier
