// SPDX-License-Identifier: Apache-2.0
#include "exec/attention_kernel.h"

#include <time.h>

#include <algorithm>
#include <cstring>
#include <limits>

#include "counterpoise/error.h"

namespace counterpoise {
namespace {

std::span<std::byte> bytes_of(float* data, int64_t bytes) {
  return {reinterpret_cast<std::byte*>(data), static_cast<size_t>(bytes)};
}

}  // namespace

AttentionKernel::AttentionKernel(const StepPlan& plan, int32_t group_index, Communicator& group,
                                 MemoryCounter& counter, const KernelOptions& options)
    : plan_(plan), group_(group), counter_(counter), options_(options) {
  if (plan.shape.element_bytes != 4) {
    throw_error(ErrorKind::kInfeasible,
                "a plan for {}-byte elements cannot be executed: tensors are float32, plan with 4",
                plan.shape.element_bytes);
  }
  const auto windows = static_cast<int32_t>(plan.groups[static_cast<size_t>(group_index)].windows.size());
  for (int32_t window = 0; window < windows; ++window) {
    windows_.emplace_back(plan, group_index, window, group.rank(), counter,
                          options.in_place ? &group : nullptr);
  }
}

void AttentionKernel::begin_pass(const PassContext& context) {
  context_ = context;
  WindowTensors& tensors = windows_[static_cast<size_t>(context.window_index)];
  tensors.clear_results(context.backward);
  if (context.backward) tensors.prepare_backward();
  if (options_.in_place) {
    sharing_ = KeySharing(*context.window, *context.pass, [&](int32_t rank) { return group_.can_map(rank); });
  }
  filled_by_message_.assign(context.pass->buffers.size(), 0);
  for (const Transfer& t : context.pass->transfers) filled_by_message_[static_cast<size_t>(t.into)] = 1;
  plan_lifetimes();
}

void AttentionKernel::end_pass() {
  CP_CHECK(staging_.empty());
  memory_.clear();
  lent_.clear();
  notices_.clear();
}

void AttentionKernel::plan_lifetimes() {
  const size_t ops = context_.pass->program(context_.rank).size();
  births_.assign(ops, {});
  deaths_.assign(ops, {});
  for (size_t i = 0; i < context_.pass->buffers.size(); ++i) {
    const Buffer& b = context_.pass->buffers[i];
    const auto index = static_cast<int32_t>(i);
    if (b.rank != context_.rank || b.home || b.last_op < 0 || sharing_.in_place(index)) continue;
    births_[static_cast<size_t>(b.first_op)].push_back(index);
    deaths_[static_cast<size_t>(b.last_op)].push_back(index);
  }
}

void AttentionKernel::before_op(int32_t op) {
  for (const int32_t index : births_[static_cast<size_t>(op)]) revive(index);
}

void AttentionKernel::after_op(int32_t op) {
  for (const int32_t index : deaths_[static_cast<size_t>(op)]) memory_.erase(index);
}

// Results that no message fills start as identity.
void AttentionKernel::revive(int32_t index) {
  const Buffer& b = buffer(index);
  const int64_t width = payload_width(plan_.shape, b.payload);
  const CountedFloats& memory =
      memory_.insert_or_assign(index, CountedFloats(counter_, b.rows * b.heads.size() * width)).first->second;
  if (filled_by_message_[static_cast<size_t>(index)] != 0) return;
  std::fill_n(memory.data(), memory.size(), 0.0f);
  if (b.payload != Payload::kPartial) return;
  for (int64_t i = 0; i < b.rows * b.heads.size(); ++i) {
    memory.data()[i * width + width - 1] = -std::numeric_limits<float>::infinity();
  }
}

Rows AttentionKernel::rows(int32_t index) const {
  const Buffer& b = buffer(index);
  if (b.home) return windows_[static_cast<size_t>(context_.window_index)].home(b.payload);
  const auto found = memory_.find(index);
  CP_CHECK(found != memory_.end());
  return {found->second.data(), b.heads, payload_width(plan_.shape, b.payload)};
}

std::pair<Rows, int64_t> AttentionKernel::locate(int32_t index, int32_t document, int64_t position) const {
  const std::span<const PlanPiece> list = pieces(index);
  const int64_t row = row_of(list, document, position);
  CP_CHECK(row >= 0);
  if (!sharing_.in_place(index)) return {rows(index), row};
  const auto after = std::upper_bound(list.begin(), list.end(), row,
                                      [](int64_t r, const PlanPiece& p) { return r < p.row; });
  const auto piece = static_cast<int32_t>(after - list.begin()) - 1;
  const auto lent = lent_.find({index, piece});
  CP_CHECK(lent != lent_.end());
  return {lent->second.rows, row - list[static_cast<size_t>(piece)].row};
}

int32_t AttentionKernel::owner_of(int32_t index, int32_t document, int64_t position) const {
  while (!buffer(index).home) index = transfer(sharing_.source(index, document, position)).from;
  return buffer(index).rank;
}

// --- messages -----------------------------------------------------------------------------------------

// The rows and heads of a message lie together, in its own order: it can leave and enter without a copy.
bool AttentionKernel::contiguous(const Transfer& t, int32_t index) const {
  if (buffer(index).heads != t.heads) return false;
  const std::span<const PlanPiece> own = pieces(index), sent = context_.window->list(t.pieces);
  if (sent.empty()) return true;
  const int64_t first = row_of(own, sent[0].document, sent[0].range.begin);
  for (const PlanPiece& piece : sent) {
    if (row_of(own, piece.document, piece.range.begin) != first + piece.row) return false;
  }
  return true;
}

void AttentionKernel::copy_rows(const Transfer& t, int32_t index, float* packed, bool pack) {
  const int64_t width = payload_width(plan_.shape, t.payload) * t.heads.size();
  for (const PlanPiece& piece : context_.window->list(t.pieces)) {
    const auto [memory, first] = locate(index, piece.document, piece.range.begin);
    for (int64_t i = 0; i < piece.range.size(); ++i) {
      float* row = memory.at(first + i, t.heads.begin);
      float* in_message = packed + (piece.row + i) * width;
      std::memcpy(pack ? in_message : row, pack ? row : in_message,
                  static_cast<size_t>(width) * sizeof(float));
    }
  }
}

std::span<const std::byte> AttentionKernel::outgoing(int32_t index) {
  const Transfer& t = transfer(index);
  bytes_sent_ += t.bytes;
  if (lent(t)) return write_notice(index);
  if (!sharing_.in_place(t.from) && contiguous(t, t.from)) {
    const Rows from = rows(t.from);
    const PlanPiece& first = context_.window->list(t.pieces)[0];
    return bytes_of(from.at(row_of(pieces(t.from), first.document, first.range.begin), t.heads.begin),
                    t.bytes);
  }
  float* packed = staging_.emplace(index, CountedFloats(counter_, t.bytes / 4)).first->second.data();
  copy_rows(t, t.from, packed, true);
  return bytes_of(packed, t.bytes);
}

void AttentionKernel::sent(int32_t index) {
  staging_.erase(index);
}

std::span<std::byte> AttentionKernel::incoming(int32_t index) {
  const Transfer& t = transfer(index);
  if (lent(t)) {
    std::vector<uint64_t>& offsets = notices_[index];
    offsets.resize(static_cast<size_t>(t.pieces.count));
    return std::as_writable_bytes(std::span(offsets));
  }
  if (contiguous(t, t.into)) {
    const PlanPiece& first = context_.window->list(t.pieces)[0];
    return bytes_of(rows(t.into).at(row_of(pieces(t.into), first.document, first.range.begin), t.heads.begin),
                    t.bytes);
  }
  return bytes_of(staging_.emplace(index, CountedFloats(counter_, t.bytes / 4)).first->second.data(),
                  t.bytes);
}

void AttentionKernel::received(int32_t index) {
  const Transfer& t = transfer(index);
  if (lent(t)) return read_notice(index);
  const auto staged = staging_.find(index);
  if (staged == staging_.end()) return;
  copy_rows(t, t.into, staged->second.data(), false);
  staging_.erase(staged);
}

// Instead of the rows: where each piece lies in the memory of its holder.
std::span<const std::byte> AttentionKernel::write_notice(int32_t index) {
  const Transfer& t = transfer(index);
  bytes_in_place_ += t.bytes;
  std::vector<uint64_t>& offsets = notices_[index];
  offsets.clear();
  for (const PlanPiece& piece : context_.window->list(t.pieces)) {
    const auto [memory, row] = locate(t.from, piece.document, piece.range.begin);
    uint64_t base = 0;
    if (buffer(t.from).home) {
      base = group_.locate(reinterpret_cast<const std::byte*>(memory.data));
    } else {
      for (const auto& [key, lent] : lent_) {
        if (key.first == t.from && lent.rows.data == memory.data) base = lent.offset;
      }
    }
    offsets.push_back(base + static_cast<uint64_t>(row * memory.stride()) * sizeof(float));
  }
  return std::as_bytes(std::span(offsets));
}

void AttentionKernel::read_notice(int32_t index) {
  const Transfer& t = transfer(index);
  const std::vector<uint64_t>& offsets = notices_[index];
  const std::span<const PlanPiece> sent = context_.window->list(t.pieces), own = pieces(t.into);
  for (size_t i = 0; i < sent.size(); ++i) {
    const int64_t row = row_of(own, sent[i].document, sent[i].range.begin);
    const auto piece = std::find_if(own.begin(), own.end(), [&](const PlanPiece& p) { return p.row == row; });
    CP_CHECK(piece != own.end());
    const int32_t owner = owner_of(t.into, sent[i].document, sent[i].range.begin);
    auto* data = const_cast<std::byte*>(group_.map(owner, offsets[i]));  // read only, by the plan
    const Rows memory{
        reinterpret_cast<float*>(data), {0, plan_.shape.kv_heads}, payload_width(plan_.shape, Payload::kKv)};
    lent_[{t.into, static_cast<int32_t>(piece - own.begin())}] = {offsets[i], memory};
  }
}

// --- arithmetic -----------------------------------------------------------------------------------------

double AttentionKernel::merge(int32_t index) {
  const double begin = cpu_now();
  const Merge& m = context_.pass->merges[static_cast<size_t>(index)];
  const Rows from = rows(m.from), into = rows(m.into);
  const HeadRange heads = buffer(m.from).heads;
  const bool partial = buffer(m.into).payload == Payload::kPartial;
  for (const PlanPiece& piece : pieces(m.from)) {
    const int64_t row = row_of(pieces(m.into), piece.document, piece.range.begin);
    CP_CHECK(row >= 0);
    if (partial) {
      const int64_t dv = plan_.shape.v_head_dim, count = piece.range.size();
      merge_partials(into.view(row, count, heads, 0, dv), into.view(row, count, heads, dv, 1),
                     from.view(piece.row, count, heads, 0, dv), from.view(piece.row, count, heads, dv, 1));
      continue;
    }
    for (int64_t i = 0; i < piece.range.size(); ++i) {
      const float* source = from.at(piece.row + i, heads.begin);
      float* target = into.at(row + i, heads.begin);
      for (int64_t j = 0; j < heads.size() * from.width; ++j) target[j] += source[j];
    }
  }
  merge_seconds_ += cpu_now() - begin;
  return 0;
}

double AttentionKernel::cpu_now() const {
  timespec time{};
  clock_gettime(options_.threads == 1 ? CLOCK_THREAD_CPUTIME_ID : CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

}  // namespace counterpoise
