// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <vector>

#include "counterpoise/plan.h"
#include "plan_whole_attention.h"

// The smallest reader of a plan: all ranks of a window in one thread, op by op, in double precision, plain
// loops. It exists to test plans without an executor, and is the meaning of the ops spelled out.
namespace counterpoise::testing_plan {

// When the content of a message is copied: once both sides posted (earliest), or only when one of them must
// have it (latest). Plans must give the same numbers both ways.
enum class CopyTime { kEarliest, kLatest };

class Interpreter {
 public:
  Interpreter(const WindowPlan& window, const AttentionShape& shape, const std::vector<WholeDocument>& whole,
              bool backward, CopyTime copy_time);

  // Runs every rank until all are done; throws std::runtime_error when they are stuck or touch what is not
  // there.
  void run();

  // Largest |x - whole attention's x| over the results all ranks hold at the end: out and lse, or dq, dk and
  // dv.
  double largest_error() const;

 private:
  struct State {
    std::vector<int32_t> next;                           // by rank: index into its program
    std::vector<std::vector<double>> data;               // by buffer; empty: not alive
    std::vector<char> send_posted, recv_posted, copied;  // by transfer
  };

  int64_t width(Payload payload) const;
  double* row(int32_t buffer, int32_t document, int64_t position, int32_t head);
  void fill_home(int32_t buffer);
  void revive(int32_t rank, int32_t op);
  void bury(int32_t rank, int32_t op);
  bool step(int32_t rank);
  bool wait(int32_t rank, int32_t transfer);
  void copy(int32_t transfer);
  void post(int32_t transfer);
  void attend(const Tile& tile);
  void attend_backward(const Tile& tile);
  void merge(const Merge& merge);
  double error_of(int32_t buffer) const;

  const WindowPlan& window_;
  const AttentionShape& shape_;
  const std::vector<WholeDocument>& whole_;
  const bool backward_;
  const CopyTime copy_time_;
  const Pass& pass_;
  State state_;
};

}  // namespace counterpoise::testing_plan
