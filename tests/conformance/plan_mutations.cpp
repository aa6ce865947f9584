// SPDX-License-Identifier: Apache-2.0
#include "plan_mutations.h"

#include <algorithm>

namespace counterpoise::testing_plan {
namespace {

template <typename T>
T* any(std::vector<T>& items, RandomStream& random) {
  return items.empty() ? nullptr : &items[random.below(items.size())];
}

void erase_op(Pass& pass, size_t at) {
  pass.ops.erase(pass.ops.begin() + at);
  for (int32_t& offset : pass.programs) offset -= offset > static_cast<int32_t>(at) ? 1 : 0;
}

void insert_op(Pass& pass, size_t at, Op op) {
  pass.ops.insert(pass.ops.begin() + at, op);
  for (size_t i = 1; i < pass.programs.size(); ++i)
    pass.programs[i] += pass.programs[i] > static_cast<int32_t>(at) ? 1 : 0;
}

// Index of a random op of one kind, -1 if there is none.
int64_t any_op(const Pass& pass, OpKind kind, RandomStream& random) {
  std::vector<int64_t> found;
  for (size_t i = 0; i < pass.ops.size(); ++i) {
    if (pass.ops[i].kind == kind) found.push_back(static_cast<int64_t>(i));
  }
  return found.empty() ? -1 : found[random.below(found.size())];
}

Mutate drop_op(OpKind kind) {
  return [kind](WindowPlan&, Pass& pass, RandomStream& random) {
    const int64_t at = any_op(pass, kind, random);
    if (at >= 0) erase_op(pass, at);
    return at >= 0;
  };
}

Mutate repeat_op(OpKind kind) {
  return [kind](WindowPlan&, Pass& pass, RandomStream& random) {
    const int64_t at = any_op(pass, kind, random);
    if (at >= 0) insert_op(pass, at, pass.ops[at]);
    return at >= 0;
  };
}

bool drop_tile(WindowPlan&, Pass& pass, RandomStream& random) {
  if (pass.tiles.empty()) return false;
  const int32_t gone = static_cast<int32_t>(random.below(pass.tiles.size()));
  pass.tiles.erase(pass.tiles.begin() + gone);
  for (size_t i = 0; i < pass.ops.size(); ++i) {
    Op& op = pass.ops[i];
    if (op.kind != OpKind::kAttend) continue;
    if (op.index > gone)
      --op.index;
    else if (gone < op.index + op.count)
      --op.count;
    if (op.count == 0) erase_op(pass, i--);
  }
  return true;
}

bool repeat_tile(WindowPlan&, Pass& pass, RandomStream& random) {
  if (pass.tiles.empty()) return false;
  const int32_t twice = static_cast<int32_t>(random.below(pass.tiles.size()));
  pass.tiles.insert(pass.tiles.begin() + twice, Tile(pass.tiles[twice]));
  for (Op& op : pass.ops) {
    if (op.kind != OpKind::kAttend) continue;
    if (op.index > twice)
      ++op.index;
    else if (twice < op.index + op.count)
      ++op.count;
  }
  return true;
}

Mutate change_tile(std::function<void(Tile&)> change) {
  return [change](WindowPlan&, Pass& pass, RandomStream& random) {
    Tile* tile = any(pass.tiles, random);
    if (tile != nullptr) change(*tile);
    return tile != nullptr;
  };
}

Mutate move_range(Range Tile::*range, int64_t begin, int64_t end) {
  return change_tile([=](Tile& tile) {
    tile.*range = {(tile.*range).begin + begin, (tile.*range).end + end};
  });
}

// Lets a tile use another buffer.
Mutate other_buffer(int32_t Tile::*buffer) {
  return [buffer](WindowPlan&, Pass& pass, RandomStream& random) {
    Tile* tile = any(pass.tiles, random);
    if (tile == nullptr || tile->*buffer < 0) return false;
    const int32_t other = static_cast<int32_t>(random.below(pass.buffers.size()));
    const bool changed = other != tile->*buffer;
    tile->*buffer = other;
    return changed;
  };
}

Mutate change_transfer(std::function<bool(WindowPlan&, Pass&, Transfer&, RandomStream&)> change) {
  return [change](WindowPlan& window, Pass& pass, RandomStream& random) {
    Transfer* transfer = any(pass.transfers, random);
    return transfer != nullptr && change(window, pass, *transfer, random);
  };
}

int32_t other_rank(const Pass& pass, int32_t rank, RandomStream& random) {
  const int32_t cp = static_cast<int32_t>(pass.programs.size()) - 1;
  return (rank + 1 + static_cast<int32_t>(random.below(cp - 1))) % cp;
}

bool wrong_destination(WindowPlan&, Pass& pass, Transfer& transfer, RandomStream& random) {
  transfer.dst = other_rank(pass, transfer.dst, random);
  return true;
}

bool wrong_source(WindowPlan&, Pass& pass, Transfer& transfer, RandomStream& random) {
  transfer.src = other_rank(pass, transfer.src, random);
  return true;
}

// Gives the transfer a list of its own that lacks one row, and bytes to match.
bool short_transfer(WindowPlan& window, Pass&, Transfer& transfer, RandomStream& random) {
  const int64_t row_bytes = transfer.bytes / window.rows(transfer.pieces);
  std::vector<PlanPiece> list(window.list(transfer.pieces).begin(), window.list(transfer.pieces).end());
  const size_t at = random.below(list.size());
  list[at].range.begin += 1;
  if (list[at].range.empty()) list.erase(list.begin() + at);
  int64_t row = 0;
  for (PlanPiece& piece : list) {
    piece.row = row;
    row += piece.range.size();
  }
  transfer.pieces = {static_cast<int32_t>(window.pieces.size()), static_cast<int32_t>(list.size())};
  window.pieces.insert(window.pieces.end(), list.begin(), list.end());
  transfer.bytes -= row_bytes;
  return true;
}

bool fewer_heads(WindowPlan&, Pass&, Transfer& transfer, RandomStream&) {
  transfer.bytes -= transfer.bytes / transfer.heads.size();
  --transfer.heads.end;
  return true;
}

bool wrong_bytes(WindowPlan&, Pass&, Transfer& transfer, RandomStream&) {
  transfer.bytes += 4;
  return true;
}

bool other_slot(WindowPlan&, Pass& pass, Transfer& transfer, RandomStream& random) {
  const int32_t other = static_cast<int32_t>(random.below(pass.buffers.size()));
  const bool changed = other != transfer.into;
  transfer.into = other;
  return changed;
}

bool other_origin(WindowPlan&, Pass& pass, Transfer& transfer, RandomStream& random) {
  const int32_t other = static_cast<int32_t>(random.below(pass.buffers.size()));
  const bool changed = other != transfer.from;
  transfer.from = other;
  return changed;
}

bool same_tag(WindowPlan&, Pass& pass, Transfer& transfer, RandomStream&) {
  for (const Transfer& other : pass.transfers) {
    if (other.src != transfer.src || other.dst != transfer.dst || other.tag == transfer.tag) continue;
    transfer.tag = other.tag;
    return true;
  }
  return false;
}

bool other_target(WindowPlan&, Pass& pass, RandomStream& random) {
  Merge* merge = any(pass.merges, random);
  if (merge == nullptr) return false;
  const int32_t other = static_cast<int32_t>(random.below(pass.buffers.size()));
  const bool changed = other != merge->into;
  merge->into = other;
  return changed;
}

// Moves an op to a random place of the same program.
bool move_op(WindowPlan&, Pass& pass, RandomStream& random) {
  if (pass.ops.size() < 2) return false;
  const size_t from = random.below(pass.ops.size());
  size_t rank = 0;
  while (pass.programs[rank + 1] <= static_cast<int32_t>(from)) ++rank;
  const size_t size = pass.programs[rank + 1] - pass.programs[rank];
  const size_t to = pass.programs[rank] + random.below(size);
  if (from == to) return false;
  const Op op = pass.ops[from];
  pass.ops.erase(pass.ops.begin() + from);
  pass.ops.insert(pass.ops.begin() + to, op);
  return true;
}

// Moves an op into the program of the next rank.
bool op_to_other_rank(WindowPlan&, Pass& pass, RandomStream& random) {
  const size_t cp = pass.programs.size() - 1;
  const size_t rank = random.below(cp - 1);
  if (pass.programs[rank] == pass.programs[rank + 1]) return false;
  --pass.programs[rank + 1];
  return true;
}

Mutate lifetime(int32_t Buffer::*end, int32_t by) {
  return [=](WindowPlan&, Pass& pass, RandomStream& random) {
    Buffer* buffer = any(pass.buffers, random);
    if (buffer->home || buffer->last_op < 0) return false;
    buffer->*end += by;
    return true;
  };
}

Mutate change_buffer(std::function<void(Buffer&)> change) {
  return [change](WindowPlan&, Pass& pass, RandomStream& random) {
    change(*any(pass.buffers, random));
    return true;
  };
}

// A rank claims one token more than it holds, or one less.
bool shifted_placement(WindowPlan& window, Pass&, RandomStream& random) {
  const Pieces list = *any(window.placement, random);
  if (list.count == 0) return false;
  PlanPiece& piece = window.pieces[list.first + random.below(list.count)];
  (random.below(2) == 0 ? piece.range.begin : piece.range.end) += random.below(2) == 0 ? 1 : -1;
  return true;
}

}  // namespace

std::vector<Mutation> all_mutations() {
  std::vector<Mutation> all{
      {"dropped tile", drop_tile},
      {"duplicated tile", repeat_tile},
      {"queries shifted up", move_range(&Tile::q, 1, 1), true},
      {"queries shifted down", move_range(&Tile::q, -1, -1), true},
      {"keys shifted up", move_range(&Tile::kv, 1, 1), true},
      {"keys shifted down", move_range(&Tile::kv, -1, -1), true},
      {"queries grown", move_range(&Tile::q, 0, 1), true},
      {"queries shrunk", move_range(&Tile::q, 0, -1)},
      {"keys grown", move_range(&Tile::kv, -1, 0), true},
      {"keys shrunk", move_range(&Tile::kv, 1, 0)},
      {"heads shifted", change_tile([](Tile& tile) {
         tile.heads = {tile.heads.begin + 1, tile.heads.end + 1};
       })},
      {"heads shrunk", change_tile([](Tile& tile) { --tile.heads.end; })},
      {"document swapped", change_tile([](Tile& tile) { tile.document ^= 1; })},
      {"tile of another rank", change_tile([](Tile& tile) { tile.rank ^= 1; })},
      {"other queries", other_buffer(&Tile::q_buffer)},
      {"other keys", other_buffer(&Tile::kv_buffer), true},
      {"other result", other_buffer(&Tile::q_result), true},
      {"other key gradient", other_buffer(&Tile::kv_result), true},
      {"wrong destination", change_transfer(wrong_destination)},
      {"wrong source", change_transfer(wrong_source)},
      {"short transfer", change_transfer(short_transfer)},
      {"fewer heads", change_transfer(fewer_heads)},
      {"wrong bytes", change_transfer(wrong_bytes)},
      {"received elsewhere", change_transfer(other_slot), true},
      {"sent from elsewhere", change_transfer(other_origin), true},
      {"same tag", change_transfer(same_tag)},
      {"missing merge", drop_op(OpKind::kMerge)},
      {"repeated merge", repeat_op(OpKind::kMerge)},
      {"merged elsewhere", other_target, true},
      {"missing send", drop_op(OpKind::kSend)},
      {"repeated send", repeat_op(OpKind::kSend)},
      {"missing receive", drop_op(OpKind::kRecv)},
      {"repeated receive", repeat_op(OpKind::kRecv)},
      {"missing wait", drop_op(OpKind::kWait)},
      {"repeated wait", repeat_op(OpKind::kWait)},
      {"missing attend", drop_op(OpKind::kAttend)},
      {"repeated attend", repeat_op(OpKind::kAttend)},
      {"swapped order", move_op, true},
      {"op of another rank", op_to_other_rank},
      {"born late", lifetime(&Buffer::first_op, 1)},
      {"freed early", lifetime(&Buffer::last_op, -1)},
      {"rows of a buffer", change_buffer([](Buffer& buffer) { ++buffer.rows; })},
      {"rank of a buffer", change_buffer([](Buffer& buffer) { buffer.rank ^= 1; })},
      {"home flag", change_buffer([](Buffer& buffer) { buffer.home = !buffer.home; })},
      {"placement shifted", shifted_placement},
  };
  return all;
}

}  // namespace counterpoise::testing_plan
