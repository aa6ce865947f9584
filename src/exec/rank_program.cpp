// SPDX-License-Identifier: Apache-2.0
#include "exec/rank_program.h"

#include "counterpoise/error.h"

namespace counterpoise {
namespace {

std::span<std::byte> bytes_of(double& value) {
  return std::as_writable_bytes(std::span(&value, 1));
}

}  // namespace

RankProgram::RankProgram(const PassContext& context, Communicator& group, Kernel& kernel, Clock& clock,
                         std::vector<Span>& spans)
    : context_(context),
      pass_(*context.pass),
      group_(group),
      kernel_(kernel),
      clock_(clock),
      spans_(spans),
      messages_(pass_.transfers.size()) {}

void RankProgram::run() {
  const std::span<const Op> program = pass_.program(context_.rank);
  try {
    for (int32_t at = 0; at < static_cast<int32_t>(program.size()); ++at) {
      kernel_.before_op(at);
      perform(at, program[static_cast<size_t>(at)]);
      kernel_.after_op(at);
    }
  } catch (const std::exception& error) {
    group_.fail(error.what());  // while the buffers of messages in flight still live
    throw;
  }
}

void RankProgram::perform(int32_t at, const Op& op) {
  switch (op.kind) {
    case OpKind::kSend:
      return send(op.index);
    case OpKind::kRecv:
      return receive(op.index);
    case OpKind::kWait:
      return wait(at, op.index);
    case OpKind::kAttend:
      return compute(SpanKind::kAttend, at, op);
    case OpKind::kMerge:
      return compute(SpanKind::kMerge, at, op);
  }
}

void RankProgram::send(int32_t index) {
  const Transfer& transfer = pass_.transfers[static_cast<size_t>(index)];
  Message& message = messages_[static_cast<size_t>(index)];
  message.flight =
      clock_.depart(group_.world_rank(transfer.src), group_.world_rank(transfer.dst), transfer.bytes);
  message.stamp = message.flight.arrival;
  const auto data = clock_.is_virtual() ? bytes_of(message.stamp) : kernel_.outgoing(index);
  message.request = group_.isend(transfer.dst, transfer.tag, data);
}

void RankProgram::receive(int32_t index) {
  const Transfer& transfer = pass_.transfers[static_cast<size_t>(index)];
  Message& message = messages_[static_cast<size_t>(index)];
  const auto into = clock_.is_virtual() ? bytes_of(message.stamp) : kernel_.incoming(index);
  message.request = group_.irecv(transfer.src, transfer.tag, into);
}

void RankProgram::wait(int32_t at, int32_t index) {
  const Transfer& transfer = pass_.transfers[static_cast<size_t>(index)];
  Message& message = messages_[static_cast<size_t>(index)];
  const bool sender = is_sender(transfer);
  const int32_t peer = sender ? transfer.dst : transfer.src;
  const double begin = clock_.now();
  if (message.request == 0) {
    throw_error(ErrorKind::kCheckFailed, "rank {}: op {} waits for transfer {}, which this rank never posted",
                group_.world_rank(context_.rank), at, index);
  }
  group_.wait(message.request, {sender ? Phase::kSending : Phase::kReceiving, at, peer});
  message.request = 0;
  clock_.advance_to(sender ? message.flight.left : message.stamp);
  record(SpanKind::kWait, peer, at, begin, clock_.now());
  if (sender) {
    const Flight& flight = message.flight;
    record(SpanKind::kTransfer, peer, index, flight.begin,
           clock_.is_virtual() ? flight.arrival : clock_.now());
    kernel_.sent(index);
  } else {
    kernel_.received(index);
  }
}

void RankProgram::compute(SpanKind kind, int32_t at, const Op& op) {
  const double begin = clock_.now();
  if (kind == SpanKind::kAttend) {
    const auto tiles =
        std::span(pass_.tiles).subspan(static_cast<size_t>(op.index), static_cast<size_t>(op.count));
    clock_.spend(kernel_.attend(tiles));
  } else {
    clock_.spend(kernel_.merge(op.index));
  }
  record(kind, -1, at, begin, clock_.now());
  group_.progress();
}

void RankProgram::record(SpanKind kind, int32_t peer, int32_t index, double begin, double end) {
  spans_.push_back({kind, context_.backward, group_.world_rank(context_.rank),
                    peer < 0 ? -1 : group_.world_rank(peer), context_.window_index, index, begin, end});
}

}  // namespace counterpoise
