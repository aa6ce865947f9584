// SPDX-License-Identifier: Apache-2.0
#include <optional>

#include "counterpoise/error.h"
#include "plan/lower.h"

namespace counterpoise {

void check_shape(const AttentionShape& shape) {
  if (shape.heads < 1 || shape.kv_heads < 1 || shape.heads % shape.kv_heads != 0) {
    throw_error(ErrorKind::kUsage,
                "heads {} and kv_heads {}: heads must be a multiple of kv_heads, both at least 1",
                shape.heads, shape.kv_heads);
  }
  if (shape.head_dim < 1 || shape.v_head_dim < 1) {
    throw_error(ErrorKind::kUsage, "head_dim {}, v_head_dim {}: must be at least 1", shape.head_dim,
                shape.v_head_dim);
  }
  if (shape.element_bytes != 2 && shape.element_bytes != 4) {
    throw_error(ErrorKind::kUsage, "element_bytes {}: must be 2 (bfloat16, float16) or 4 (float32)",
                shape.element_bytes);
  }
}

namespace {

std::vector<int64_t> lengths_of(const std::vector<PlanDocument>& documents) {
  std::vector<int64_t> lengths;
  lengths.reserve(documents.size());
  for (const PlanDocument& document : documents) {
    if (document.length < 0) throw_error(ErrorKind::kUsage, "document {}: negative length", document.id);
    lengths.push_back(document.length);
  }
  return lengths;
}

}  // namespace

StepPlan make_plan(const PlanRequest& request) {
  check_shape(request.shape);
  StepPlan plan;
  plan.cp = request.cp;
  plan.shape = request.shape;
  plan.sharder = request.sharder;
  plan.scheme = request.scheme;
  plan.seed = request.seed;
  std::optional<Routes> routes;
  Topology topology;
  for (const auto& windows : request.groups) {
    GroupPlan& group = plan.groups.emplace_back();
    group.windows.reserve(windows.size());
    for (const std::vector<PlanDocument>& documents : windows) {
      const std::vector<int64_t> lengths = lengths_of(documents);
      const Placement placement =
          shard_window(request.sharder, {lengths, request.cp, request.shape.mask, request.shard_options});
      if (!routes || !routes_shared(request.scheme)) {
        routes = make_routes(request.scheme,
                             {lengths, &placement, request.cp, request.shape, request.scheme_options});
        topology = make_topology(*routes);
      }
      group.windows.push_back(
          lower_window(documents, placement, *routes, topology, request.shape, request.backward));
    }
  }
  return plan;
}

}  // namespace counterpoise
