// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>

#include "kernels/simd/backward_plan.h"
#include "kernels/simd/turns.h"

namespace counterpoise {

// Works through the visits of an item. What they add to dq waits for its turn. Runner has begin(item),
// attend(visit), add_query_gradients() of the visit attended last, finish(). Query heads count from
// first_head.
template <class Runner>
void run_item(const AttentionProblem& problem, const BackwardPlan& plan, int64_t index, int64_t first_head,
              Turns& turns, Runner& runner) {
  const BackwardPlan::Item& item = plan.items()[index];
  runner.begin(item);
  size_t visit_index = 0;
  plan.for_each_visit(item, [&](const BackwardPlan::Visit& visit) {
    runner.attend(visit);
    if (problem.threads == 1) return runner.add_query_gradients();
    const uint32_t turn = plan.turns(index)[visit_index++];
    const int64_t head = visit.head - first_head;
    turns.wait(head, visit.query_block, turn);
    runner.add_query_gradients();
    turns.finish(head, visit.query_block, turn);
  });
  runner.finish();
}

// Calls work(kv_heads) for ranges of key/value heads whose packed queries may be held in memory together: one
// head at least.
template <typename F>
void for_head_batches(const AttentionProblem& problem, const QueryBlocks& queries, int64_t floats_per_panel,
                      F work) {
  constexpr int64_t kWorkspaceFloats = int64_t{1} << 26;
  const int64_t kv_heads = problem.shape.kv_heads;
  const int64_t per_head = floats_per_panel * problem.group() * static_cast<int64_t>(queries.panels.size());
  const int64_t at_once = std::clamp<int64_t>(per_head ? kWorkspaceFloats / per_head : 1, 1, kv_heads);
  for (int64_t head = 0; head < kv_heads; head += at_once)
    work(Range{head, std::min(head + at_once, kv_heads)});
}

}  // namespace counterpoise
