// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>

#include "plan/verify_pass.h"

namespace counterpoise::verifier {
namespace {

struct Use {
  int32_t first = -1;
  int32_t last = -1;

  void at(int32_t op) {
    if (first < 0) first = op;
    last = op;
  }
};

std::vector<Use> uses_of_buffers(const Case& c) {
  std::vector<Use> uses(c.pass.buffers.size());
  for (int32_t rank = 0; rank < c.cp(); ++rank) {
    int32_t at = 0;
    for (const Op& op : c.pass.program(rank)) {
      if (op.kind == OpKind::kAttend) {
        for (int32_t i = op.index; i < op.index + op.count; ++i) {
          const Tile& tile = c.pass.tiles[i];
          uses[tile.q_buffer].at(at);
          uses[tile.kv_buffer].at(at);
          uses[tile.q_result].at(at);
          if (c.backward) uses[tile.kv_result].at(at);
        }
      } else if (op.kind == OpKind::kMerge) {
        uses[c.pass.merges[op.index].from].at(at);
        uses[c.pass.merges[op.index].into].at(at);
      } else {
        const Transfer& transfer = c.pass.transfers[op.index];
        uses[transfer.src == rank ? transfer.from : transfer.into].at(at);
      }
      ++at;
    }
  }
  return uses;
}

// Most bytes alive at once, by replaying births and deaths in program order.
Wide most_alive(const Case& c, int32_t rank) {
  std::map<int32_t, Wide> change;  // by op: bytes born at it, bytes dead after the one before
  Wide alive = 0;
  for (const Buffer& buffer : c.pass.buffers) {
    if (buffer.rank != rank) continue;
    if (buffer.home) {
      alive += buffer.bytes;
    } else if (buffer.last_op >= 0) {
      change[buffer.first_op] += buffer.bytes;
      change[buffer.last_op + 1] -= buffer.bytes;
    }
  }
  Wide most = alive;
  for (const auto& [op, bytes] : change) most = std::max(most, alive += bytes);
  return most;
}

}  // namespace

int64_t check_memory(const Case& c, int64_t limit) {
  const std::vector<Use> uses = uses_of_buffers(c);
  for (size_t i = 0; i < uses.size(); ++i) {
    const Buffer& buffer = c.pass.buffers[i];
    const int32_t ops = static_cast<int32_t>(c.pass.program(buffer.rank).size());
    if (buffer.home) continue;
    const bool unused = uses[i].last < 0;
    const bool legal =
        buffer.last_op < ops &&
        (buffer.last_op < 0 ? unused : 0 <= buffer.first_op && buffer.first_op <= buffer.last_op);
    const bool alive = unused || (buffer.first_op <= uses[i].first && uses[i].last <= buffer.last_op);
    if (!legal || !alive)
      c.findings.add("memory", "buffer {} of rank {}: used outside its lifetime", i, buffer.rank);
  }
  if (!c.findings.none()) return 0;
  Wide most = 0;
  for (int32_t rank = 0; rank < c.cp(); ++rank) {
    const Wide peak = most_alive(c, rank);
    most = std::max<Wide>(most, peak);
    if (limit > 0 && peak > limit) {
      c.findings.add("memory", "rank {}: buffers take {} bytes at once, the limit is {}", rank,
                     static_cast<double>(peak), limit);
    }
  }
  return static_cast<int64_t>(std::min<Wide>(most, INT64_MAX));
}

}  // namespace counterpoise::verifier
