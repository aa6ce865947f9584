// SPDX-License-Identifier: Apache-2.0
#include "plan/topology.h"

#include <algorithm>

#include "counterpoise/error.h"

namespace counterpoise {
namespace {

class TopologyBuilder {
 public:
  explicit TopologyBuilder(const Routes& routes) : routes_(routes) {
    topology_.cp = routes.cp;
    topology_.steps = routes.steps;
  }

  Topology build() {
    make_blocks();
    find_last_children();
    for (int32_t block = 2 * routes_.cp; block < static_cast<int32_t>(topology_.blocks.size()); ++block) {
      topology_.blocks[block].keys ? add_key_hops(block) : add_query_hops(block);
    }
    return std::move(topology_);
  }

 private:
  void make_blocks() {
    const int32_t cp = routes_.cp;
    for (int32_t rank = 0; rank < cp; ++rank) topology_.blocks.push_back({rank, false, 0, {rank}});
    for (int32_t rank = 0; rank < cp; ++rank) topology_.blocks.push_back({rank, true, 0, {rank}});
    topology_.key_block.assign(cp * cp, -1);
    topology_.query_block.assign(cp * cp, -1);
    for (int32_t rank = 0; rank < cp; ++rank) {
      topology_.key_block[routes_.at(rank, rank)] = topology_.home_keys(rank);
      topology_.query_block[routes_.at(rank, rank)] = topology_.home_queries(rank);
      make_blocks_of(rank, false, routes_.q_step, topology_.query_block);
      make_blocks_of(rank, true, routes_.kv_step, topology_.key_block);
    }
  }

  // One block per step at which something arrives.
  void make_blocks_of(int32_t rank, bool keys, const std::vector<int32_t>& step_of,
                      std::vector<int32_t>& block_of) {
    std::vector<int32_t> at_step(routes_.steps, -1);
    for (int32_t holder = 0; holder < routes_.cp; ++holder) {
      const int32_t step = step_of[routes_.at(rank, holder)];
      if (step < 0 || holder == rank) continue;
      CP_CHECK(step >= 1 && step < routes_.steps);
      if (at_step[step] < 0) {
        at_step[step] = static_cast<int32_t>(topology_.blocks.size());
        topology_.blocks.push_back({rank, keys, step, {}});
      }
      topology_.blocks[at_step[step]].holders.push_back(holder);
      block_of[routes_.at(rank, holder)] = at_step[step];
    }
  }

  // last_child_[rank, holder]: whom `rank` passes the holder's keys to latest, -1 for the end of a branch.
  void find_last_children() {
    last_child_.assign(routes_.cp * routes_.cp, -1);
    for (int32_t rank = 0; rank < routes_.cp; ++rank) {
      for (int32_t holder = 0; holder < routes_.cp; ++holder) {
        const int32_t step = routes_.kv_step[routes_.at(rank, holder)];
        if (step < 1) continue;
        const int32_t parent = routes_.kv_parent[routes_.at(rank, holder)];
        CP_CHECK(routes_.kv_step[routes_.at(parent, holder)] >= 0);
        CP_CHECK(routes_.kv_step[routes_.at(parent, holder)] < step);
        int32_t& last = last_child_[routes_.at(parent, holder)];
        if (last < 0 || routes_.kv_step[routes_.at(last, holder)] < step) last = rank;
      }
    }
  }

  // Hops into `into`, one per block its holders' rows come from.
  template <typename SourceOf>
  std::vector<Hop> hops_into(int32_t into, SourceOf source_of) const {
    std::vector<Hop> hops;
    for (int32_t holder : topology_.blocks[into].holders) {
      const int32_t from = source_of(holder);
      const auto same =
          std::find_if(hops.begin(), hops.end(), [&](const Hop& hop) { return hop.from == from; });
      if (same != hops.end()) {
        same->holders.push_back(holder);
      } else {
        hops.push_back({from, into, {holder}});
      }
    }
    return hops;
  }

  int32_t parent_block(int32_t block, int32_t holder) const {
    const int32_t parent = routes_.kv_parent[routes_.at(topology_.blocks[block].rank, holder)];
    return topology_.key_block[routes_.at(parent, holder)];
  }

  // Where a block gets keys from in backward: from whom it passed them to last, or from the holder itself.
  int32_t backward_source(int32_t block, int32_t holder) const {
    const int32_t child = last_child_[routes_.at(topology_.blocks[block].rank, holder)];
    return child < 0 ? topology_.home_keys(holder) : topology_.key_block[routes_.at(child, holder)];
  }

  void add_key_hops(int32_t into) {
    const int32_t step = topology_.blocks[into].step;
    const int32_t back = backward_step(into);
    for (Hop& hop : hops_into(into, [&](int32_t holder) { return parent_block(into, holder); })) {
      Hop gradient{into, hop.from, hop.holders, back, back + 1, true};
      if (!topology_.is_home(hop.from)) gradient.done = backward_step(hop.from);
      topology_.backward.push_back(std::move(gradient));
      hop.post = std::max(topology_.blocks[hop.from].step, step - routes_.lead);
      hop.done = step - 1;
      topology_.forward.push_back(std::move(hop));
    }
    for (Hop& hop : hops_into(into, [&](int32_t holder) { return backward_source(into, holder); })) {
      hop.post = topology_.is_home(hop.from) ? std::max(0, back - routes_.lead) : backward_step(hop.from);
      hop.done = back - 1;
      topology_.backward.push_back(std::move(hop));
    }
  }

  // Travelling queries stay until the last forward step, which is backward step 1.
  void add_query_hops(int32_t into) {
    const int32_t step = topology_.blocks[into].step;
    const int32_t back = backward_step(into);
    for (int32_t holder : topology_.blocks[into].holders) {
      const int32_t home = topology_.home_queries(holder);
      topology_.forward.push_back({home, into, {holder}, std::max(0, step - routes_.lead), step - 1, false});
      topology_.forward.push_back({into, home, {holder}, routes_.steps - 1, routes_.steps, true});
      topology_.backward.push_back({home, into, {holder}, 0, 0, false});
      topology_.backward.push_back({into, home, {holder}, back, back + 1, true});
    }
  }

  int32_t backward_step(int32_t block) const { return routes_.steps - topology_.blocks[block].step; }

  const Routes& routes_;
  Topology topology_;
  std::vector<int32_t> last_child_;
};

}  // namespace

Topology make_topology(const Routes& routes) {
  return TopologyBuilder(routes).build();
}

}  // namespace counterpoise
