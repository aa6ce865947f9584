// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <vector>

#include "counterpoise/scheme.h"

namespace counterpoise {

// A set of rows that a rank has at hand from one step on: the keys, or the queries, of some holders.
struct Block {
  int32_t rank = 0;
  bool keys = false;
  int32_t step = 0;              // forward step of first use
  std::vector<int32_t> holders;  // whose rows; the rank itself alone for the home blocks
};

// A message between two blocks, before any window is known. "Down" carries inputs towards their users, "up"
// carries results (partial outputs, gradients) towards their holders, where they are merged.
struct Hop {
  int32_t from = 0;
  int32_t into = 0;
  std::vector<int32_t> holders;  // whose rows travel
  int32_t post = 0;              // down: posted at the start of this step; up: at its end
  int32_t done = 0;              // waited for at the end of this step; the receiver of an up hop then merges
  bool up = false;
};

// What the routes mean as blocks and hops. Backward is the transpose: time runs backwards (forward step s
// becomes step `steps - s`), every message of keys turns round and takes the gradient with it, and the rank
// that used a holder's keys last gets them first, straight from the holder. Queries that travelled do so
// again, and dq returns.
struct Topology {
  int32_t cp = 1;
  int32_t steps = 1;
  std::vector<Block> blocks;         // rank r's own queries are block r, its own keys block cp + r
  std::vector<int32_t> query_block;  // [rank * cp + holder], -1: none
  std::vector<int32_t> key_block;
  std::vector<Hop> forward;
  std::vector<Hop> backward;

  int32_t home_queries(int32_t rank) const { return rank; }
  int32_t home_keys(int32_t rank) const { return cp + rank; }
  bool is_home(int32_t block) const { return block < 2 * cp; }
};

Topology make_topology(const Routes& routes);

}  // namespace counterpoise
