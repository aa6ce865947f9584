// SPDX-License-Identifier: Apache-2.0
#include "shard/policies.h"

#include "counterpoise/error.h"

// The table of sharders, one line each: function shard_<name> lives in <name>.cpp, the summary is what users
// read.
// clang-format off
#define COUNTERPOISE_SHARDERS(SHARDER)                                                                          \
  SHARDER(contiguous, "equal runs of the window, rank 0 first")                                                 \
  SHARDER(zigzag, "2 cp equal slices of the window; rank r holds slices r and 2 cp - 1 - r")                    \
  SHARDER(striped, "blocks of the window dealt to the ranks in turn")                                           \
  SHARDER(per_document_zigzag, "zigzag slices of every document")                                               \
  SHARDER(adaptive, "long documents in zigzag slices, short ones whole, the border where it costs least")      \
  SHARDER(whole_document, "documents stay whole, longest first to the least loaded rank, under a token cap")
// clang-format on

namespace counterpoise {

#define SHARDER(name, summary) Placement shard_##name(const ShardInput& input);
COUNTERPOISE_SHARDERS(SHARDER)
#undef SHARDER

namespace {

struct Policy {
  const char* name;
  const char* summary;
  Placement (*shard)(const ShardInput&);
};

constexpr Policy kPolicies[] = {
#define SHARDER(name, summary) {#name, summary, shard_##name},
    COUNTERPOISE_SHARDERS(SHARDER)
#undef SHARDER
};

}  // namespace

Placement shard_window(const std::string& policy, const ShardInput& input) {
  if (input.cp < 1) throw_error(ErrorKind::kUsage, "cp {}: must be at least 1", input.cp);
  for (const Policy& known : kPolicies) {
    if (policy == known.name) return known.shard(input);
  }
  std::string names;
  for (const Policy& known : kPolicies) names += (names.empty() ? "" : ", ") + std::string(known.name);
  throw_error(ErrorKind::kUsage, "unknown sharder \"{}\"; known: {}", policy, names);
}

std::vector<SharderInfo> sharders() {
  std::vector<SharderInfo> all;
  for (const Policy& known : kPolicies) all.push_back({known.name, known.summary});
  return all;
}

}  // namespace counterpoise
