// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "cli/length_options.h"
#include "counterpoise/document_stream.h"
#include "counterpoise/plan.h"
#include "counterpoise/windows.h"

namespace counterpoise {

// What a plan is made from, as the command line spells it; shared by the verbs that plan. Numbers stay text
// until they are used, which names the flag of whatever is wrong.
struct PlanOptions {
  LengthOptions lengths;
  std::string window = "8k";
  std::string pack = "concat";
  std::string long_documents = "split";
  std::string order = "sample";
  int32_t dp = 1;
  int32_t cp = 2;
  int32_t micro_batches = 1;
  std::string shard = "zigzag";
  std::string scheme = "ring";
  std::string mask = "causal";
  std::string block = "0", token_cap = "0";
  int32_t inner = 0;
  int32_t heads = 8, kv_heads = 0, head_dim = 64, v_head_dim = 0;  // 0: as heads, as head_dim
  std::string dtype = "float32";
  bool backward = false;
  uint64_t seed = 1;

  void add_to(CLI::App& verb);
  // Everything but the windows.
  PlanRequest request() const;
};

// "contiguous, zigzag, ...".
template <typename Info>
std::string names_of(const std::vector<Info>& all) {
  std::string names;
  for (const Info& info : all) names += (names.empty() ? "" : ", ") + info.name;
  return names;
}

// "causal", "full", "window:4k" (the query itself and the keys before it, that many in all).
Mask parse_mask(const std::string& text);

// The windows of step after step, in stream order: group g of a step gets micro_batches consecutive ones.
class PlanSteps {
 public:
  explicit PlanSteps(const PlanOptions& options);
  ~PlanSteps();
  // Throws kInfeasible where the corpus ends before the step is full.
  PlanRequest next();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace counterpoise
