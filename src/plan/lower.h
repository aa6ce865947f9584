// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "counterpoise/plan.h"
#include "counterpoise/scheme.h"
#include "plan/topology.h"

namespace counterpoise {

// Holders, computers and routes of one window -> messages, buffers and an ordered program per rank, both
// passes.
WindowPlan lower_window(std::vector<PlanDocument> documents, const Placement& placement, const Routes& routes,
                        const Topology& topology, const AttentionShape& shape, bool backward);

}  // namespace counterpoise
