// SPDX-License-Identifier: Apache-2.0
#include "plan/pass_builder.h"

#include <algorithm>

#include "plan/hop_load.h"

namespace counterpoise {

PassBuilder::PassBuilder(Pass& pass, WindowPlan& window, WindowRows& rows, const Routes& routes,
                         const Topology& topology, const AttentionShape& shape, bool backward)
    : pass_(pass),
      window_(window),
      rows_(rows),
      routes_(routes),
      topology_(topology),
      shape_(shape),
      backward_(backward) {
  inputs_.assign(topology_.blocks.size(), -1);
  results_.assign(topology_.blocks.size(), -1);
  add_home_buffers();
  add_block_buffers();
}

Payload PassBuilder::input_payload(bool keys) const {
  if (keys) return Payload::kKv;
  return backward_ ? Payload::kQBack : Payload::kQ;
}

Payload PassBuilder::result_payload(bool keys) const {
  if (!backward_) return Payload::kPartial;
  return keys ? Payload::kDkv : Payload::kDq;
}

int32_t PassBuilder::add_buffer(int32_t rank, Payload payload, bool home, HeadRange heads, Pieces pieces) {
  const int64_t rows = window_.rows(pieces);
  const int64_t bytes = rows * heads.size() * payload_bytes(shape_, payload);
  pass_.buffers.push_back({rank, payload, home, heads, pieces, rows, bytes, 0, -1});
  return static_cast<int32_t>(pass_.buffers.size()) - 1;
}

// In the order of home_buffer().
void PassBuilder::add_home_buffers() {
  const HeadRange q_heads{0, shape_.heads}, kv_heads{0, shape_.kv_heads};
  for (int32_t rank = 0; rank < topology_.cp; ++rank) {
    const Pieces own = window_.placement[rank];
    const int32_t queries = topology_.home_queries(rank), keys = topology_.home_keys(rank);
    inputs_[queries] = add_buffer(rank, input_payload(false), true, q_heads, own);
    inputs_[keys] = add_buffer(rank, Payload::kKv, true, kv_heads, own);
    results_[queries] = add_buffer(rank, result_payload(false), true, q_heads, own);
    if (backward_) results_[keys] = add_buffer(rank, Payload::kDkv, true, kv_heads, own);
  }
}

void PassBuilder::add_block_buffers() {
  for (size_t index = 2 * topology_.cp; index < topology_.blocks.size(); ++index) {
    const Block& block = topology_.blocks[index];
    const Pieces pieces = rows_.of_block(static_cast<int32_t>(index));
    if (pieces.count == 0) continue;
    const HeadRange heads =
        block.keys ? shape_.kv_heads_of(routes_.heads[block.rank]) : routes_.heads[block.rank];
    inputs_[index] = add_buffer(block.rank, input_payload(block.keys), false, heads, pieces);
    if (backward_ || !block.keys) {
      results_[index] = add_buffer(block.rank, result_payload(block.keys), false, heads, pieces);
    }
  }
}

void PassBuilder::add_event(int32_t rank, int32_t step, Phase phase, Op op) {
  events_.push_back({(rank * (topology_.steps + 1) + step) * kPhases + phase, op});
}

void PassBuilder::attend(int32_t rank, int32_t step, int32_t first, int32_t count) {
  add_event(rank, step, kCompute, {OpKind::kAttend, first, count});
}

int32_t PassBuilder::add_transfer(int32_t from, int32_t into, Payload payload, HeadRange heads,
                                  Pieces pieces) {
  const int64_t bytes = window_.rows(pieces) * heads.size() * payload_bytes(shape_, payload);
  pass_.transfers.push_back(
      {pass_.buffers[from].rank, pass_.buffers[into].rank, payload, heads, pieces, from, into, 0, bytes});
  return static_cast<int32_t>(pass_.transfers.size()) - 1;
}

void PassBuilder::add_hop(const Hop& hop) {
  const Pieces pieces = rows_.of_hop(hop.holders, hop.up ? hop.from : hop.into);
  if (pieces.count == 0) return;
  const int32_t transfer = hop.up ? add_up(hop, pieces) : add_down(hop, pieces);
  const int32_t merge = static_cast<int32_t>(pass_.merges.size()) - 1;
  const auto add = [&](int32_t rank, int32_t step, Phase phase, OpKind kind) {
    add_event(rank, step, phase, {kind, kind == OpKind::kMerge ? merge : transfer});
  };
  for_each_op(hop, pass_.transfers[transfer].src, pass_.transfers[transfer].dst, add);
}

int32_t PassBuilder::add_down(const Hop& hop, Pieces pieces) {
  const Buffer& into = pass_.buffers[inputs_[hop.into]];
  return add_transfer(inputs_[hop.from], inputs_[hop.into], into.payload, into.heads, pieces);
}

// The receiver collects results in a buffer of their own and merges them into what it has.
int32_t PassBuilder::add_up(const Hop& hop, Pieces pieces) {
  const Buffer from = pass_.buffers[results_[hop.from]];
  const int32_t target = results_[hop.into];
  const Payload payload = hop_load(hop, topology_, routes_, shape_, backward_).payload;
  const int32_t arrived = add_buffer(pass_.buffers[target].rank, payload, false, from.heads, pieces);
  pass_.merges.push_back({arrived, target});
  return add_transfer(results_[hop.from], arrived, payload, from.heads, pieces);
}

void PassBuilder::finish(const std::vector<Hop>& hops) {
  for (const Hop& hop : hops) add_hop(hop);
  order_programs();
  number_messages();
  find_lifetimes();
}

// A stable counting sort by (rank, step, phase).
void PassBuilder::order_programs() {
  const int32_t per_rank = (topology_.steps + 1) * kPhases;
  std::vector<int32_t> start(topology_.cp * per_rank + 1, 0);
  for (const Event& event : events_) ++start[event.bucket + 1];
  for (size_t i = 1; i < start.size(); ++i) start[i] += start[i - 1];
  pass_.programs.resize(topology_.cp + 1);
  for (int32_t rank = 0; rank <= topology_.cp; ++rank) pass_.programs[rank] = start[rank * per_rank];
  pass_.ops.resize(events_.size());
  for (const Event& event : events_) pass_.ops[start[event.bucket]++] = event.op;
}

void PassBuilder::number_messages() {
  std::vector<int32_t> sent(topology_.cp * topology_.cp, 0);
  for (const Op& op : pass_.ops) {
    if (op.kind != OpKind::kSend) continue;
    Transfer& transfer = pass_.transfers[op.index];
    transfer.tag = sent[transfer.src * topology_.cp + transfer.dst]++;
  }
}

void PassBuilder::touch(int32_t buffer, int32_t op) {
  Buffer& touched = pass_.buffers[buffer];
  if (touched.last_op < 0) touched.first_op = op;
  touched.last_op = op;
}

void PassBuilder::find_lifetimes() {
  for (int32_t rank = 0; rank < topology_.cp; ++rank) {
    const std::span<const Op> program = pass_.program(rank);
    for (int32_t at = 0; at < static_cast<int32_t>(program.size()); ++at) {
      const Op& op = program[at];
      if (op.kind == OpKind::kAttend) {
        for (int32_t i = op.index; i < op.index + op.count; ++i) {
          const Tile& tile = pass_.tiles[i];
          for (int32_t buffer : {tile.q_buffer, tile.kv_buffer, tile.q_result}) touch(buffer, at);
          if (tile.kv_result >= 0) touch(tile.kv_result, at);
        }
      } else if (op.kind == OpKind::kMerge) {
        touch(pass_.merges[op.index].from, at);
        touch(pass_.merges[op.index].into, at);
      } else {
        const Transfer& transfer = pass_.transfers[op.index];
        touch(transfer.src == rank ? transfer.from : transfer.into, at);
      }
    }
  }
}

}  // namespace counterpoise
