// SPDX-License-Identifier: Apache-2.0
#include "counterpoise/verify.h"

#include <algorithm>

#include "counterpoise/error.h"
#include "plan/verify_pass.h"

namespace counterpoise {
namespace {

bool absent(const Pass& pass) {
  return pass == Pass{};
}

// Positions are below 2^31, so that sums of them and a side of the mask do not overflow.
bool side_is_legal(int64_t side) {
  return side >= -1 && side <= int64_t{1} << 62;
}

bool shape_is_legal(const AttentionShape& shape) {
  return shape.heads >= 1 && shape.kv_heads >= 1 && shape.heads % shape.kv_heads == 0 &&
         shape.head_dim >= 1 && shape.v_head_dim >= 1 &&
         (shape.element_bytes == 2 || shape.element_bytes == 4) && side_is_legal(shape.mask.left) &&
         side_is_legal(shape.mask.right);
}

class PlanVerifier {
 public:
  PlanVerifier(const StepPlan& plan, const VerifyOptions& options) : plan_(plan), options_(options) {}

  VerifyReport run() {
    verifier::Findings findings(report_, options_, "plan: ");
    if (plan_.cp < 1) findings.add("structure", "cp {} must be at least 1", plan_.cp);
    if (!shape_is_legal(plan_.shape)) findings.add("structure", "the attention shape is not legal");
    if (!findings.none()) return report_;
    for (size_t g = 0; g < plan_.groups.size(); ++g) {
      for (size_t w = 0; w < plan_.groups[g].windows.size(); ++w) {
        check_window(plan_.groups[g].windows[w], fmt::format("group {} window {} ", g, w));
      }
    }
    return report_;
  }

 private:
  void check_window(const WindowPlan& window, const std::string& where) {
    verifier::Findings findings(report_, options_, where);
    verifier::check_window(plan_, window, findings);
    if (!findings.none()) return;
    for (const PlanDocument& document : window.documents) {
      const Range all{0, document.length};
      report_.pairs +=
          static_cast<double>(verifier::count_pairs(all, all, plan_.shape.mask)) * plan_.shape.heads;
    }
    check_pass(window, window.forward, false, where + "forward ");
    if (!absent(window.backward)) check_pass(window, window.backward, true, where + "backward ");
  }

  // Each check may rely on the ones before.
  void check_pass(const WindowPlan& window, const Pass& pass, bool backward, const std::string& where) {
    verifier::Findings findings(report_, options_, where);
    const verifier::Case c{plan_, window, pass, backward, findings};
    verifier::check_structure(c);
    if (findings.none()) verifier::check_coverage(c);
    if (findings.none()) verifier::check_messages(c);
    if (findings.none()) verifier::check_data(c);
    if (findings.none()) {
      report_.peak_bytes = std::max(report_.peak_bytes, verifier::check_memory(c, options_.memory_limit));
    }
  }

  const StepPlan& plan_;
  const VerifyOptions& options_;
  VerifyReport report_;
};

}  // namespace

VerifyReport verify(const StepPlan& plan, const VerifyOptions& options) {
  return PlanVerifier(plan, options).run();
}

void require_valid(const StepPlan& plan, const VerifyOptions& options) {
  const VerifyReport report = verify(plan, options);
  if (report.ok()) return;
  std::string all;
  for (const Violation& violation : report.violations)
    all += "\n  " + violation.rule + ": " + violation.message;
  throw_error(ErrorKind::kCheckFailed, "the plan is not valid:{}", all);
}

}  // namespace counterpoise
