// SPDX-License-Identifier: Apache-2.0
#pragma once
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

}  // namespace counterpoise
