// SPDX-License-Identifier: Apache-2.0
#include "plan/schemes.h"

#include <algorithm>
#include <cstdlib>

#include "counterpoise/error.h"

// The table of schemes, one line each: function route_<name> lives in route_<name>.cpp. "shared" schemes need
// only cp and the shape; the others look at the window.
// clang-format off
#define COUNTERPOISE_SCHEMES(SCHEME)                                                                              \
  SCHEME(ring, true, "every rank's keys pass all ranks, neighbour to neighbour")                                  \
  SCHEME(all_gather, true, "every rank receives all keys, then computes its own queries")                         \
  SCHEME(all_to_all, true, "ranks exchange tokens for heads, and back")                                           \
  SCHEME(ring2d, true, "all_to_all among neighbours, ring over the rest")                                         \
  SCHEME(double_ring, true, "a ring in each node, a ring over nodes")                                             \
  SCHEME(direct, true, "only the keys somebody needs, straight from their holder")                                \
  SCHEME(attention_server, false, "queries of loaded ranks are computed elsewhere")
// clang-format on

namespace counterpoise {

#define SCHEME(name, shared, summary) Routes route_##name(const SchemeInput& input);
COUNTERPOISE_SCHEMES(SCHEME)
#undef SCHEME

namespace {

struct Scheme {
  const char* name;
  bool shared;
  const char* summary;
  Routes (*route)(const SchemeInput&);
};

constexpr Scheme kSchemes[] = {
#define SCHEME(name, shared, summary) {#name, shared, summary, route_##name},
    COUNTERPOISE_SCHEMES(SCHEME)
#undef SCHEME
};

const Scheme& find_scheme(const std::string& name) {
  for (const Scheme& known : kSchemes) {
    if (name == known.name) return known;
  }
  std::string names;
  for (const Scheme& known : kSchemes) names += (names.empty() ? "" : ", ") + std::string(known.name);
  throw_error(ErrorKind::kUsage, "unknown scheme \"{}\"; known: {}", name, names);
}

}  // namespace

Routes stationary_routes(const SchemeInput& input, int32_t steps) {
  const size_t cells = static_cast<size_t>(input.cp) * input.cp;
  Routes routes;
  routes.cp = input.cp;
  routes.steps = steps;
  routes.heads.assign(input.cp, {0, input.shape.heads});
  routes.kv_step.assign(cells, -1);
  routes.kv_parent.assign(cells, -1);
  routes.q_step.assign(cells, -1);
  for (int32_t rank = 0; rank < input.cp; ++rank) {
    routes.kv_step[routes.at(rank, rank)] = 0;
    routes.q_step[routes.at(rank, rank)] = 0;
  }
  return routes;
}

int32_t near_square_divisor(int32_t cp, int32_t most) {
  int32_t best = 1;
  for (int32_t i = 1; i <= most && i * i <= cp; ++i) best = cp % i == 0 ? i : best;
  return best;
}

int32_t nearest_divisor(int32_t cp, int32_t wanted, int32_t most) {
  int32_t best = 1;
  for (int32_t i = 1; i <= std::min(cp, most); ++i) {
    if (cp % i == 0 && std::abs(i - wanted) < std::abs(best - wanted)) best = i;
  }
  return best;
}

Routes make_routes(const std::string& scheme, const SchemeInput& input) {
  return find_scheme(scheme).route(input);
}

bool routes_shared(const std::string& scheme) {
  return find_scheme(scheme).shared;
}

std::vector<SchemeInfo> schemes() {
  std::vector<SchemeInfo> all;
  for (const Scheme& known : kSchemes) all.push_back({known.name, known.summary});
  return all;
}

}  // namespace counterpoise
