// SPDX-License-Identifier: Apache-2.0
#include "plan_interpreter.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

namespace counterpoise::testing_plan {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kMinusInf = -std::numeric_limits<double>::infinity();

// Merges (out_b, lse_b) into (out_a, lse_a); the lse follows the dv values of out.
void merge_rows(double* a, const double* b, int64_t dv) {
  if (b[dv] == kMinusInf) return;
  const double top = std::max(a[dv], b[dv]);
  const double wa = std::exp(a[dv] - top), wb = std::exp(b[dv] - top);
  for (int64_t i = 0; i < dv; ++i) a[i] = (wa * a[i] + wb * b[i]) / (wa + wb);
  a[dv] = top + std::log(wa + wb);
}

}  // namespace

Interpreter::Interpreter(const WindowPlan& window, const AttentionShape& shape,
                         const std::vector<WholeDocument>& whole, bool backward, CopyTime copy_time)
    : window_(window),
      shape_(shape),
      whole_(whole),
      backward_(backward),
      copy_time_(copy_time),
      pass_(backward ? window.backward : window.forward) {
  state_.next.assign(pass_.programs.size() - 1, 0);
  state_.data.resize(pass_.buffers.size());
  state_.send_posted.assign(pass_.transfers.size(), 0);
  state_.recv_posted = state_.copied = state_.send_posted;
  for (size_t buffer = 0; buffer < pass_.buffers.size(); ++buffer) {
    if (pass_.buffers[buffer].home) fill_home(static_cast<int32_t>(buffer));
  }
}

int64_t Interpreter::width(Payload payload) const {
  const int64_t d = shape_.head_dim, dv = shape_.v_head_dim;
  switch (payload) {
    case Payload::kQ:
    case Payload::kDq:
      return d;
    case Payload::kKv:
    case Payload::kDkv:
      return d + dv;
    case Payload::kPartial:
    case Payload::kOut:
      return dv + 1;
    case Payload::kQBack:
      return d + dv + 2;
  }
  return 0;
}

double* Interpreter::row(int32_t buffer, int32_t document, int64_t position, int32_t head) {
  const Buffer& known = pass_.buffers[buffer];
  const int64_t at = row_of(window_.list(known.pieces), document, position);
  if (at < 0 || head < known.heads.begin || head >= known.heads.end)
    throw std::runtime_error("row not in buffer");
  if (state_.data[buffer].empty()) throw std::runtime_error("buffer is not alive");
  return &state_.data[buffer][(at * known.heads.size() + head - known.heads.begin) * width(known.payload)];
}

// Results start as the identity, what a message must fill as NaN.
static void reset(std::vector<double>& data, Payload payload, int64_t size, int64_t width) {
  const bool sum = payload == Payload::kDq || payload == Payload::kDkv || payload == Payload::kPartial;
  data.assign(size, sum ? 0.0 : kNan);
  if (payload != Payload::kPartial) return;
  for (int64_t i = width - 1; i < size; i += width) data[i] = kMinusInf;
}

void Interpreter::fill_home(int32_t buffer) {
  const Buffer& known = pass_.buffers[buffer];
  const int64_t d = shape_.head_dim, dv = shape_.v_head_dim;
  const int32_t heads = known.heads.end;
  reset(state_.data[buffer], known.payload, known.rows * heads * width(known.payload), width(known.payload));
  for (const PlanPiece& piece : window_.list(known.pieces)) {
    const WholeDocument& from = whole_[piece.document];
    for (int64_t at = piece.range.begin; at < piece.range.end; ++at) {
      for (int32_t head = 0; head < heads; ++head) {
        double* to = row(buffer, piece.document, at, head);
        const int64_t i = at * heads + head;
        if (known.payload == Payload::kQ) std::copy_n(&from.q[i * d], d, to);
        if (known.payload == Payload::kKv) {
          std::copy_n(&from.v[i * dv], dv, std::copy_n(&from.k[i * d], d, to));
        }
        if (known.payload == Payload::kQBack) {
          double* end = std::copy_n(&from.dout[i * dv], dv, std::copy_n(&from.q[i * d], d, to));
          end[0] = from.lse[i];
          end[1] = from.delta[i];
        }
      }
    }
  }
}

void Interpreter::revive(int32_t rank, int32_t op) {
  for (size_t i = 0; i < pass_.buffers.size(); ++i) {
    const Buffer& known = pass_.buffers[i];
    if (known.home || known.rank != rank || known.last_op < 0 || known.first_op != op) continue;
    reset(state_.data[i], known.payload, known.rows * known.heads.size() * width(known.payload),
          width(known.payload));
  }
}

void Interpreter::bury(int32_t rank, int32_t op) {
  for (size_t i = 0; i < pass_.buffers.size(); ++i) {
    const Buffer& known = pass_.buffers[i];
    if (!known.home && known.rank == rank && known.last_op == op) state_.data[i].clear();
  }
}

void Interpreter::run() {
  for (bool moved = true; moved;) {
    moved = false;
    for (int32_t rank = 0; rank + 1 < static_cast<int32_t>(pass_.programs.size()); ++rank) {
      while (step(rank)) moved = true;
    }
  }
  for (int32_t rank = 0; rank + 1 < static_cast<int32_t>(pass_.programs.size()); ++rank) {
    if (state_.next[rank] < static_cast<int32_t>(pass_.program(rank).size()))
      throw std::runtime_error("stuck");
  }
}

// Performs the rank's next op; false when it has none or must wait.
bool Interpreter::step(int32_t rank) {
  const int32_t at = state_.next[rank];
  if (at == static_cast<int32_t>(pass_.program(rank).size())) return false;
  const Op op = pass_.program(rank)[at];
  if (op.kind == OpKind::kWait && !wait(rank, op.index)) return false;
  revive(rank, at);
  if (op.kind == OpKind::kSend) {
    state_.send_posted[op.index] = 1;
    post(op.index);
  } else if (op.kind == OpKind::kRecv) {
    state_.recv_posted[op.index] = 1;
    post(op.index);
  } else if (op.kind == OpKind::kMerge) {
    merge(pass_.merges[op.index]);
  } else if (op.kind == OpKind::kAttend) {
    for (int32_t i = op.index; i < op.index + op.count; ++i) {
      backward_ ? attend_backward(pass_.tiles[i]) : attend(pass_.tiles[i]);
    }
  }
  bury(rank, at);
  ++state_.next[rank];
  return true;
}

void Interpreter::post(int32_t transfer) {
  const bool both = state_.send_posted[transfer] && state_.recv_posted[transfer];
  if (both && copy_time_ == CopyTime::kEarliest) copy(transfer);
}

// A rendezvous: either side waits until both have posted.
bool Interpreter::wait(int32_t rank, int32_t transfer) {
  const Transfer& known = pass_.transfers[transfer];
  if (rank != known.src && rank != known.dst) throw std::runtime_error("waits for a message of others");
  if (!state_.send_posted[transfer] || !state_.recv_posted[transfer]) return false;
  if (!state_.copied[transfer]) copy(transfer);
  return true;
}

void Interpreter::copy(int32_t transfer) {
  const Transfer& known = pass_.transfers[transfer];
  state_.copied[transfer] = 1;
  for (const PlanPiece& piece : window_.list(known.pieces)) {
    for (int64_t at = piece.range.begin; at < piece.range.end; ++at) {
      for (int32_t head = known.heads.begin; head < known.heads.end; ++head) {
        const double* from = row(known.from, piece.document, at, head);
        std::copy_n(from, width(known.payload), row(known.into, piece.document, at, head));
      }
    }
  }
}

void Interpreter::attend(const Tile& tile) {
  const int64_t d = shape_.head_dim, dv = shape_.v_head_dim;
  const double scale = 1 / std::sqrt(static_cast<double>(d));
  std::vector<double> one(dv + 1);
  for (int32_t head = tile.heads.begin; head < tile.heads.end; ++head) {
    for (int64_t i = tile.q.begin; i < tile.q.end; ++i) {
      const double* q = row(tile.q_buffer, tile.document, i, head);
      double* result = row(tile.q_result, tile.document, i, head);
      for (int64_t j = tile.kv.begin; j < tile.kv.end; ++j) {
        if (!shape_.mask.visible(i, j)) continue;
        const double* k = row(tile.kv_buffer, tile.document, j, head / (shape_.heads / shape_.kv_heads));
        std::copy_n(k + d, dv, one.data());
        one[dv] = scale * dot(q, k, d);
        merge_rows(result, one.data(), dv);
      }
    }
  }
}

void Interpreter::attend_backward(const Tile& tile) {
  const int64_t d = shape_.head_dim, dv = shape_.v_head_dim;
  const double scale = 1 / std::sqrt(static_cast<double>(d));
  for (int32_t head = tile.heads.begin; head < tile.heads.end; ++head) {
    const int32_t kv_head = head / (shape_.heads / shape_.kv_heads);
    for (int64_t i = tile.q.begin; i < tile.q.end; ++i) {
      const double* q = row(tile.q_buffer, tile.document, i, head);
      const double* dout = q + d;
      const double lse = q[d + dv], delta = q[d + dv + 1];
      for (int64_t j = tile.kv.begin; j < tile.kv.end; ++j) {
        if (!shape_.mask.visible(i, j)) continue;
        const double* k = row(tile.kv_buffer, tile.document, j, kv_head);
        double* dkv = row(tile.kv_result, tile.document, j, kv_head);
        const double p = std::exp(scale * dot(q, k, d) - lse);
        const double ds = scale * p * (dot(dout, k + d, dv) - delta);
        add(row(tile.q_result, tile.document, i, head), k, ds, d);
        add(dkv, q, ds, d);
        add(dkv + d, dout, p, dv);
      }
    }
  }
}

void Interpreter::merge(const Merge& merge) {
  const Buffer& from = pass_.buffers[merge.from];
  for (const PlanPiece& piece : window_.list(from.pieces)) {
    for (int64_t at = piece.range.begin; at < piece.range.end; ++at) {
      for (int32_t head = from.heads.begin; head < from.heads.end; ++head) {
        const double* x = row(merge.from, piece.document, at, head);
        double* y = row(merge.into, piece.document, at, head);
        if (backward_) {
          add(y, x, 1, width(from.payload));
        } else {
          merge_rows(y, x, shape_.v_head_dim);
        }
      }
    }
  }
}

double Interpreter::largest_error() const {
  double worst = 0;
  for (size_t i = 0; i < pass_.buffers.size(); ++i) {
    if (pass_.buffers[i].home) worst = std::max(worst, error_of(static_cast<int32_t>(i)));
  }
  return worst;
}

// NaN counts as infinitely wrong; equal infinities (the lse of an empty row) as right.
static double difference(double a, double b) {
  if (a == b) return 0;
  return std::isfinite(a) && std::isfinite(b) ? std::abs(a - b) : std::numeric_limits<double>::infinity();
}

double Interpreter::error_of(int32_t buffer) const {
  const Buffer& known = pass_.buffers[buffer];
  const int64_t d = shape_.head_dim, dv = shape_.v_head_dim, width_of_row = width(known.payload);
  const int32_t heads = known.heads.end;
  double worst = 0;
  for (const PlanPiece& piece : window_.list(known.pieces)) {
    const WholeDocument& right = whole_[piece.document];
    for (int64_t at = piece.range.begin; at < piece.range.end; ++at) {
      for (int32_t head = 0; head < heads; ++head) {
        const double* x =
            &state_.data[buffer][((piece.row + at - piece.range.begin) * heads + head) * width_of_row];
        const int64_t i = at * heads + head;
        const auto compare = [&](const double* a, const double* b, int64_t n) {
          for (int64_t j = 0; j < n; ++j) worst = std::max(worst, difference(a[j], b[j]));
        };
        if (known.payload == Payload::kPartial) compare(x, &right.out[i * dv], dv);
        if (known.payload == Payload::kPartial) compare(x + dv, &right.lse[i], 1);
        if (known.payload == Payload::kDq) compare(x, &right.dq[i * d], d);
        if (known.payload == Payload::kDkv) compare(x, &right.dk[i * d], d);
        if (known.payload == Payload::kDkv) compare(x + d, &right.dv[i * dv], dv);
      }
    }
  }
  return worst;
}

}  // namespace counterpoise::testing_plan
