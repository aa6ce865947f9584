// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "counterpoise/plan.h"
#include "counterpoise/scheme.h"
#include "plan/topology.h"
#include "plan/window_rows.h"

namespace counterpoise {

// What ranks attend to, call by call. Refers to everything it is given.
class TileMaker {
 public:
  TileMaker(const WindowPlan& window, const WindowRows& rows, const Routes& routes, const Topology& topology,
            Mask mask);

  // Appends the tiles of what `rank` computes at forward step `step`; q_buffer and kv_buffer are block
  // numbers, results -1.
  void append(int32_t rank, int32_t step, std::vector<Tile>& tiles) const;

 private:
  void append_pair(int32_t q_block, int32_t kv_block, std::vector<Tile>& tiles) const;

  const WindowPlan& window_;
  const WindowRows& rows_;
  const Routes& routes_;
  const Topology& topology_;
  Mask mask_;
  std::vector<std::vector<int32_t>> queries_, keys_;  // blocks by rank
};

}  // namespace counterpoise
