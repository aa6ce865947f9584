// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

#include "counterpoise/communicator.h"
#include "exec/attention_kernel.h"

namespace counterpoise {

enum class CheckKind {
  kNone,
  kSingle,  // against one rank's kernel on whole documents
  kOracle,  // against plain fp64 loops over the whole matrix
};

// One tensor of one window. kOracle allows 2 x the largest error that plain float32 attention makes in the
// tensor, plus 2 ulp of the largest magnitude that entered it. kSingle compares two float32 results, so twice
// that, with the error of plain float32 taken from a sample of rows and columns of every document.
struct TensorCheck {
  std::string name;
  double error = 0;
  double allowed = 0;
  bool ok() const { return error <= allowed; }
};

struct CheckResult {
  std::vector<TensorCheck>
      tensors;  // out, lse and, after a backward pass, dq, dk, dv; the worst of all windows
  int64_t windows = 0;
  int64_t documents = 0;

  bool ok() const;
  void add(const CheckResult& other);
};

// Gathers the group's results of one window and checks them; the documents are dealt to the ranks. Collective
// over the group; every rank gets the same answer.
CheckResult check_window(const StepPlan& plan, int32_t group_index, int32_t window, const WindowTensors& mine,
                         Communicator& group, CheckKind kind, const KernelOptions& options);

}  // namespace counterpoise
