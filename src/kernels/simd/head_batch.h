// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>

#include "counterpoise/parallel.h"
#include "kernels/simd/backward_plan.h"
#include "kernels/simd/turns.h"

namespace counterpoise {

// Key/value heads whose packed queries are held in memory together, and the backward work on them that
// threads share.
struct HeadBatch {
  const AttentionProblem& problem;
  const KvBlocks& kv;
  const QueryBlocks& queries;
  Range kv_heads;
  Range heads{kv_heads.begin * problem.group(), kv_heads.end* problem.group()};  // of their queries

  // Calls work(panels, head) until every panel of every query head had its turn.
  template <typename F>
  void for_panels(F work) const {
    constexpr int64_t kPanelsAtOnce = 16;
    const int64_t panels = static_cast<int64_t>(queries.panels.size());
    const int64_t parts = (panels + kPanelsAtOnce - 1) / kPanelsAtOnce;
    parallel_for(heads.size() * parts, problem.threads, [&](int64_t i) {
      const int64_t first = i % parts * kPanelsAtOnce;
      work(Range{first, std::min(panels, first + kPanelsAtOnce)}, heads.begin + i / parts);
    });
  }

  // Calls work(rows, kv_head) for every block of keys of every key/value head.
  template <typename F>
  void for_key_blocks(F work) const {
    const int64_t blocks = static_cast<int64_t>(kv.count());
    parallel_for(kv_heads.size() * blocks, problem.threads,
                 [&](int64_t i) { work(kv.rows(i % blocks), kv_heads.begin + i / blocks); });
  }

  // Works through the items of the key/value heads that fits(kv_head) admits. lend(run) calls run(runner)
  // with a runner of its own: begin(item), attend(visit), add_query_gradients() of the visit attended last,
  // finish().
  template <class Fits, class Lend>
  void run_items(Fits fits, Lend lend) const {
    const BackwardPlan plan(problem, kv, queries, kv_heads);
    Turns turns(heads.size(), static_cast<int64_t>(queries.blocks.size()));
    parallel_for(static_cast<int64_t>(plan.items().size()), problem.threads, [&](int64_t i) {
      if (!fits(plan.items()[i].kv_head)) return;
      try {
        lend([&](auto& runner) { run_item(plan, i, turns, runner); });
      } catch (...) {
        turns.fail();
        throw;
      }
    });
  }

 private:
  // What the visits of an item add to dq waits for its turn.
  template <class Runner>
  void run_item(const BackwardPlan& plan, int64_t index, Turns& turns, Runner& runner) const {
    const BackwardPlan::Item& item = plan.items()[index];
    runner.begin(item);
    size_t visit_index = 0;
    plan.for_each_visit(item, [&](const BackwardPlan::Visit& visit) {
      runner.attend(visit);
      if (problem.threads == 1) return runner.add_query_gradients();
      const uint32_t turn = plan.turns(index)[visit_index++];
      const int64_t head = visit.head - heads.begin;
      turns.wait(head, visit.query_block, turn);
      runner.add_query_gradients();
      turns.finish(head, visit.query_block, turn);
    });
    runner.finish();
  }
};

// Calls work(batch) for as many heads at a time as may be held in memory together: one at least.
template <typename F>
void for_head_batches(const AttentionProblem& problem, const KvBlocks& kv, const QueryBlocks& queries,
                      int64_t floats_per_panel, F work) {
  constexpr int64_t kWorkspaceFloats = int64_t{1} << 26;
  const int64_t kv_heads = problem.shape.kv_heads;
  const int64_t per_head = floats_per_panel * problem.group() * static_cast<int64_t>(queries.panels.size());
  const int64_t at_once = std::clamp<int64_t>(per_head ? kWorkspaceFloats / per_head : 1, 1, kv_heads);
  for (int64_t head = 0; head < kv_heads; head += at_once)
    work(HeadBatch{problem, kv, queries, {head, std::min(head + at_once, kv_heads)}});
}

}  // namespace counterpoise
