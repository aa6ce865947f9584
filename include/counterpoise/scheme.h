// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "counterpoise/plan.h"
#include "counterpoise/shard.h"

// Communication schemes. A scheme says who computes what and along which ranks keys and queries travel; one
// lowering derives messages, buffers, order and backward for all of them.
namespace counterpoise {

// Queries of one document that rank `rank` computes although, or because, `holder` holds them: against the
// keys of `kv` that they see.
struct Work {
  int32_t rank = 0;
  int32_t holder = 0;
  int32_t document = 0;
  Range q;
  Range kv;
};

// Matrices are cp x cp, [rank * cp + holder]. Steps order the program of a rank: step 0 needs only what it
// holds. Keys form one tree per holder: rank r gets them from kv_parent before step kv_step; parents come at
// earlier steps. Queries that travel go straight from their holder to the rank and their results straight
// back.
struct Routes {
  int32_t cp = 1;
  int32_t steps = 1;             // all kv_step and q_step are below
  std::vector<HeadRange> heads;  // per rank: the query heads it computes
  std::vector<int32_t> kv_step;  // -1: never gets them; 0 for its own
  std::vector<int32_t> kv_parent;
  std::vector<int32_t> q_step;  // -1: does not compute queries of that holder; 0 for its own
  int32_t lead = 1;             // a message is posted at most this many steps before its use
  bool trim = false;       // send only the ranges somebody needs; keys then come straight from their holder
  bool whole_rows = true;  // every (query, head) is computed on one rank, so results travel as kOut
  std::vector<Work>
      work;  // explicit work, sorted by (rank, holder, document, q); empty: all rows of q_step's holders

  int32_t at(int32_t rank, int32_t holder) const { return rank * cp + holder; }
};

struct SchemeInput {
  std::span<const int64_t> lengths;
  const Placement* placement = nullptr;
  int32_t cp = 1;
  AttentionShape shape;
  SchemeOptions options;
};

// Throws kUsage (unknown scheme) or kInfeasible (value, rule, nearest legal choice).
Routes make_routes(const std::string& scheme, const SchemeInput& input);
// True where the routes depend on cp and shape only, so that all windows of a plan share them.
bool routes_shared(const std::string& scheme);

struct SchemeInfo {
  std::string name;
  std::string summary;
};
std::vector<SchemeInfo> schemes();

}  // namespace counterpoise
