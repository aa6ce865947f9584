// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "counterpoise/plan.h"
#include "counterpoise/scheme.h"
#include "plan/needs.h"
#include "plan/topology.h"

namespace counterpoise {

// Rows and work of the blocks and hops of one window; writes piece lists into the window's storage.
class WindowRows {
 public:
  WindowRows(WindowPlan& window, const Placement& placement, const Routes& routes, const Topology& topology,
             const AttentionShape& shape);

  // All rows of a block, in document order.
  Pieces of_block(int32_t block) const { return blocks_[block]; }
  // The rows of a hop of these holders; `user` is the block that the inputs travel to.
  Pieces of_hop(const std::vector<int32_t>& holders, int32_t user);
  // What the block's rank computes of a block of queries, in document order.
  std::span<const Work> work(int32_t block) const { return work_[block]; }

 private:
  void make_placement(const Placement& placement);
  void make_work();
  void add_all_work(size_t block);
  void make_needs();
  void make_blocks();
  Pieces select(const std::vector<int32_t>& holders, const std::vector<HeldRange>* need);

  WindowPlan& window_;
  const Routes& routes_;
  const Topology& topology_;
  const AttentionShape& shape_;
  std::vector<OwnedRange> owned_;  // every range of the window, sorted
  std::vector<Pieces> blocks_;
  std::vector<std::vector<Work>> work_;  // by block of queries
  std::vector<std::vector<HeldRange>>
      needs_;                 // by block, where trimmed: the rows its rank uses; sorted, disjoint
  std::vector<char> wanted_;  // scratch of select(): by holder
};

}  // namespace counterpoise
