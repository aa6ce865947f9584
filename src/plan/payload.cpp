// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "counterpoise/error.h"
#include "counterpoise/plan.h"

namespace counterpoise {

HeadRange AttentionShape::kv_heads_of(HeadRange q) const {
  const int32_t group = heads / kv_heads;
  return {q.begin / group, q.size() == 0 ? q.begin / group : (q.end + group - 1) / group};
}

const char* payload_name(Payload payload) {
  constexpr const char* kNames[kPayloads] = {"q", "kv", "partial", "out", "q_back", "dq", "dkv"};
  return kNames[static_cast<int>(payload)];
}

const char* op_name(OpKind kind) {
  constexpr const char* kNames[kOpKinds] = {"send", "recv", "wait", "attend", "merge"};
  return kNames[static_cast<int>(kind)];
}

bool counts_kv_heads(Payload payload) {
  return payload == Payload::kKv || payload == Payload::kDkv;
}

int64_t payload_bytes(const AttentionShape& shape, Payload payload) {
  const int64_t d = shape.head_dim, dv = shape.v_head_dim, element = shape.element_bytes;
  switch (payload) {
    case Payload::kQ:
      return d * element;
    case Payload::kKv:
      return (d + dv) * element;
    case Payload::kPartial:
      return (dv + 1) * 4;
    case Payload::kOut:
      return dv * element + 4;
    case Payload::kQBack:
      return (d + dv) * element + 8;
    case Payload::kDq:
      return d * 4;
    case Payload::kDkv:
      return (d + dv) * 4;
  }
  CP_CHECK(false);
  return 0;
}

int32_t home_buffer(bool backward, int32_t rank, Payload payload) {
  const int32_t base = rank * (backward ? 4 : 3);
  if (payload == Payload::kKv) return base + 1;
  if (!backward) return base + (payload == Payload::kQ ? 0 : 2);
  return base + (payload == Payload::kQBack ? 0 : payload == Payload::kDq ? 2 : 3);
}

int64_t row_of(std::span<const PlanPiece> pieces, int32_t document, int64_t position) {
  const auto after = std::upper_bound(pieces.begin(), pieces.end(), std::pair{document, position},
                                      [](const auto& key, const PlanPiece& piece) {
                                        return key < std::pair{piece.document, piece.range.begin};
                                      });
  if (after == pieces.begin()) return -1;
  const PlanPiece& piece = *(after - 1);
  if (piece.document != document || position >= piece.range.end) return -1;
  return piece.row + position - piece.range.begin;
}

int64_t peak_bytes(const Pass& pass, int32_t rank) {
  if (pass.programs.empty()) return 0;
  std::vector<int64_t> change(pass.program(rank).size() + 1, 0);
  int64_t live = 0;
  for (const Buffer& buffer : pass.buffers) {
    if (buffer.rank != rank) continue;
    if (buffer.home) live += buffer.bytes;
    if (buffer.home || buffer.last_op < 0) continue;
    change[buffer.first_op] += buffer.bytes;
    change[buffer.last_op + 1] -= buffer.bytes;
  }
  int64_t peak = live;
  for (int64_t step : change) peak = std::max(peak, live += step);
  return peak;
}

}  // namespace counterpoise
