// SPDX-License-Identifier: Apache-2.0
#include "plan/hop_load.h"

namespace counterpoise {
namespace {

Payload payload_of(const Hop& hop, bool keys, bool backward, bool whole_rows) {
  if (!hop.up) return keys ? Payload::kKv : backward ? Payload::kQBack : Payload::kQ;
  if (backward) return keys ? Payload::kDkv : Payload::kDq;
  return whole_rows ? Payload::kOut : Payload::kPartial;
}

}  // namespace

// The heads are those that the user at the hop's lower end computes.
HopLoad hop_load(const Hop& hop, const Topology& topology, const Routes& routes, const AttentionShape& shape,
                 bool backward) {
  const Block& user = topology.blocks[hop.up ? hop.from : hop.into];
  const HeadRange computed = routes.heads[user.rank];
  HopLoad load;
  load.payload = payload_of(hop, user.keys, backward, routes.whole_rows);
  load.heads = user.keys ? shape.kv_heads_of(computed) : computed;
  load.row_bytes = load.heads.size() * payload_bytes(shape, load.payload);
  return load;
}

}  // namespace counterpoise
