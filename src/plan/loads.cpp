// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>

#include "counterpoise/error.h"
#include "counterpoise/plan_loads.h"
#include "plan/hop_load.h"
#include "plan/needs.h"
#include "plan/topology.h"

namespace counterpoise {
namespace {

void add_pass(const AttentionShape& shape, const Pass& pass, std::vector<RankLoad>& loads) {
  for (const Tile& tile : pass.tiles)
    loads[tile.rank].area += area(tile.q, tile.kv, shape.mask) * tile.heads.size();
  for (const Transfer& transfer : pass.transfers) {
    loads[transfer.src].sent += transfer.bytes;
    loads[transfer.dst].received += transfer.bytes;
  }
}

}  // namespace

WindowLoads loads_of(const StepPlan& plan, const WindowPlan& window) {
  WindowLoads loads;
  loads.forward.resize(plan.cp);
  for (int32_t rank = 0; rank < plan.cp; ++rank)
    loads.forward[rank].tokens = window.rows(window.placement[rank]);
  if (!window.backward.programs.empty()) loads.backward = loads.forward;
  add_pass(plan.shape, window.forward, loads.forward);
  if (!loads.backward.empty()) add_pass(plan.shape, window.backward, loads.backward);
  return loads;
}

struct LoadCounter::State {
  int32_t cp;
  AttentionShape shape;
  std::string sharder, scheme;
  ShardOptions shard_options;
  SchemeOptions scheme_options;
  std::optional<Routes> shared;
  Topology topology;                                    // of `shared`
  std::vector<int64_t> forward_sent, forward_received;  // [rank * cp + holder]: bytes per row of the holder
  std::vector<int64_t> backward_sent, backward_received;

  Routes routes_of(std::span<const int64_t> lengths, const Placement* placement) const {
    return make_routes(scheme, {lengths, placement, cp, shape, scheme_options});
  }

  // Every hop moves all rows of its holders, so bytes are linear in the rows that each rank holds.
  void find_weights() {
    const size_t cells = static_cast<size_t>(cp) * cp;
    for (auto* weights : {&forward_sent, &forward_received, &backward_sent, &backward_received}) {
      weights->assign(cells, 0);
    }
    for (const bool backward : {false, true}) {
      for (const Hop& hop : backward ? topology.backward : topology.forward) {
        const int64_t bytes = hop_load(hop, topology, *shared, shape, backward).row_bytes;
        for (int32_t holder : hop.holders) {
          const int32_t src = topology.blocks[hop.from].rank, dst = topology.blocks[hop.into].rank;
          (backward ? backward_sent : forward_sent)[src * cp + holder] += bytes;
          (backward ? backward_received : forward_received)[dst * cp + holder] += bytes;
        }
      }
    }
  }

  WindowLoads count_whole(std::span<const int64_t> lengths, const Placement& placement) const {
    std::vector<int64_t> rows(cp, 0), pairs(cp, 0);
    for (int32_t rank = 0; rank < cp; ++rank) {
      for (const HeldRange& held : placement.of(rank)) {
        rows[rank] += held.range.size();
        pairs[rank] += area(held.range, {0, lengths[held.document]}, shape.mask);
      }
    }
    WindowLoads loads;
    loads.forward.resize(cp);
    for (int32_t rank = 0; rank < cp; ++rank) {
      RankLoad& load = loads.forward[rank];
      load.tokens = rows[rank];
      for (int32_t holder = 0; holder < cp; ++holder) {
        if (shared->q_step[rank * cp + holder] >= 0) load.area += pairs[holder] * shared->heads[rank].size();
        load.sent += forward_sent[rank * cp + holder] * rows[holder];
        load.received += forward_received[rank * cp + holder] * rows[holder];
      }
    }
    loads.backward = loads.forward;
    for (int32_t rank = 0; rank < cp; ++rank) {
      loads.backward[rank].sent = loads.backward[rank].received = 0;
      for (int32_t holder = 0; holder < cp; ++holder) {
        loads.backward[rank].sent += backward_sent[rank * cp + holder] * rows[holder];
        loads.backward[rank].received += backward_received[rank * cp + holder] * rows[holder];
      }
    }
    return loads;
  }

  // Only some rows travel, all straight between their holder and the rank that uses them.
  WindowLoads count_trimmed(std::span<const int64_t> lengths, const Placement& placement,
                            const Routes& routes) const {
    const std::vector<std::vector<Work>> work =
        routes.work.empty() ? own_work(lengths, placement) : by_rank(routes.work);
    const std::vector<OwnedRange> owned = owned_ranges(placement);
    WindowLoads loads;
    loads.forward.resize(cp);
    for (const OwnedRange& range : owned) loads.forward[range.holder].tokens += range.range.size();
    loads.backward = loads.forward;
    std::vector<int64_t> keys(cp), queries(cp);  // rows that `rank` uses, by holder
    for (int32_t rank = 0; rank < cp; ++rank) {
      std::fill(keys.begin(), keys.end(), 0);
      std::fill(queries.begin(), queries.end(), 0);
      int64_t pairs = 0;
      for (const Work& one : work[rank]) {
        pairs += area(one.q, intersect(one.kv, {0, lengths[one.document]}), shape.mask);
        queries[one.holder] += one.q.size();
      }
      for_each_common(owned, needed_keys(work[rank], lengths, shape.mask),
                      [&](int32_t holder, int32_t, Range range) { keys[holder] += range.size(); });
      loads.forward[rank].area = loads.backward[rank].area = pairs * routes.heads[rank].size();
      for (int32_t holder = 0; holder < cp; ++holder) {
        if (holder != rank) add_star(loads, rank, holder, keys[holder], queries[holder], routes);
      }
    }
    return loads;
  }

  // Inputs from `holder` to `rank` and results back.
  void add_star(WindowLoads& loads, int32_t rank, int32_t holder, int64_t keys, int64_t queries,
                const Routes& routes) const {
    const int64_t k = keys * shape.kv_heads_of(routes.heads[rank]).size(),
                  q = queries * routes.heads[rank].size();
    const auto bytes = [&](Payload payload) { return payload_bytes(shape, payload); };
    const auto move = [](std::vector<RankLoad>& pass, int32_t src, int32_t dst, int64_t moved) {
      pass[src].sent += moved;
      pass[dst].received += moved;
    };
    move(loads.forward, holder, rank, k * bytes(Payload::kKv) + q * bytes(Payload::kQ));
    move(loads.forward, rank, holder, q * bytes(routes.whole_rows ? Payload::kOut : Payload::kPartial));
    move(loads.backward, holder, rank, k * bytes(Payload::kKv) + q * bytes(Payload::kQBack));
    move(loads.backward, rank, holder, k * bytes(Payload::kDkv) + q * bytes(Payload::kDq));
  }

  std::vector<std::vector<Work>> own_work(std::span<const int64_t> lengths,
                                          const Placement& placement) const {
    std::vector<std::vector<Work>> work(cp);
    for (int32_t rank = 0; rank < cp; ++rank) {
      for (const HeldRange& held : placement.of(rank)) {
        work[rank].push_back({rank, rank, held.document, held.range, {0, lengths[held.document]}});
      }
    }
    return work;
  }

  std::vector<std::vector<Work>> by_rank(const std::vector<Work>& all) const {
    std::vector<std::vector<Work>> work(cp);
    for (const Work& one : all) work[one.rank].push_back(one);
    return work;
  }
};

LoadCounter::LoadCounter(int32_t cp, const AttentionShape& shape, const std::string& sharder,
                         const std::string& scheme, const ShardOptions& shard_options,
                         const SchemeOptions& scheme_options)
    : state_(new State{cp, shape, sharder, scheme, shard_options, scheme_options, {}, {}, {}, {}, {}, {}}) {
  if (!routes_shared(scheme)) return;
  state_->shared = state_->routes_of({}, nullptr);
  if (state_->shared->trim) return;
  state_->topology = make_topology(*state_->shared);
  state_->find_weights();
}

LoadCounter::~LoadCounter() = default;

WindowLoads LoadCounter::count(std::span<const int64_t> lengths) const {
  const Placement placement =
      shard_window(state_->sharder, {lengths, state_->cp, state_->shape.mask, state_->shard_options});
  if (state_->shared && !state_->shared->trim) return state_->count_whole(lengths, placement);
  if (state_->shared) return state_->count_trimmed(lengths, placement, *state_->shared);
  return state_->count_trimmed(lengths, placement, state_->routes_of(lengths, &placement));
}

}  // namespace counterpoise
