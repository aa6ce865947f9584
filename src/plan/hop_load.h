// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "counterpoise/plan.h"
#include "counterpoise/scheme.h"
#include "plan/topology.h"

namespace counterpoise {

// What the message of a hop carries per row.
struct HopLoad {
  Payload payload = Payload::kQ;
  HeadRange heads;
  int64_t row_bytes = 0;  // all its heads
};

HopLoad hop_load(const Hop& hop, const Topology& topology, const Routes& routes, const AttentionShape& shape,
                 bool backward);

}  // namespace counterpoise
