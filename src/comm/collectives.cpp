// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include "counterpoise/communicator.h"

namespace counterpoise {
namespace {

// Collectives are called in the same order everywhere, and messages of one (sender, receiver, tag) keep
// their order, so a tag per kind is enough.
enum CollectiveTag : int {
  kBarrierTag = Communicator::kTagLimit,
  kReduceTag,
  kSpreadTag,
  kBroadcastTag,
  kLengthTag,
  kGatherTag,
};

std::span<std::byte> bytes_of(std::span<float> data) {
  return std::as_writable_bytes(data);
}

// The i-th of `parts` nearly equal pieces.
std::span<float> piece(std::span<float> data, int64_t i, int64_t parts) {
  const int64_t size = static_cast<int64_t>(data.size());
  const int64_t begin = size * i / parts, end = size * (i + 1) / parts;
  return data.subspan(static_cast<size_t>(begin), static_cast<size_t>(end - begin));
}

// Sends one buffer and receives another at the same time.
void exchange(Communicator& comm, int tag, int to, std::span<const std::byte> out, int from,
              std::span<std::byte> in, Phase phase, int64_t op) {
  const auto received = comm.irecv(from, tag, in);
  const auto sent = comm.isend(to, tag, out);
  comm.wait(received, {phase, op, from});
  comm.wait(sent, {phase, op, to});
}

}  // namespace

// Dissemination barrier (Hensgen, Finkel, Manber 1988): ceil(log2 ranks) rounds.
void Communicator::barrier(int64_t op) {
  const int ranks = size();
  for (int distance = 1; distance < ranks; distance *= 2) {
    std::byte out{}, in{};
    exchange(*this, kBarrierTag, (rank() + distance) % ranks, {&out, 1}, (rank() + ranks - distance) % ranks,
             {&in, 1}, Phase::kBarrier, op);
  }
}

// Ring reduce-scatter followed by ring all-gather (Patarasuk, Yuan 2009). Piece p is summed along the ring
// ending at one rank, which then hands the result round: every rank holds the same bits.
void Communicator::all_reduce_sum(std::span<float> data, int64_t op) {
  const int ranks = size();
  if (ranks == 1) return;
  const int next = (rank() + 1) % ranks, previous = (rank() + ranks - 1) % ranks;
  const auto part = [&](int i) { return piece(data, ((i % ranks) + ranks) % ranks, ranks); };
  std::vector<float> incoming(data.size() / static_cast<size_t>(ranks) + 1);
  for (int step = 0; step < ranks - 1; ++step) {
    const std::span<float> mine = part(rank() - step - 1);
    const std::span<float> in = std::span(incoming).first(mine.size());
    exchange(*this, kReduceTag, next, bytes_of(part(rank() - step)), previous, bytes_of(in), Phase::kReducing,
             op);
    for (size_t i = 0; i < mine.size(); ++i) mine[i] += in[i];
  }
  for (int step = 0; step < ranks - 1; ++step) {
    exchange(*this, kSpreadTag, next, bytes_of(part(rank() + 1 - step)), previous,
             bytes_of(part(rank() - step)), Phase::kReducing, op);
  }
}

void Communicator::broadcast(std::span<std::byte> data, int root, int64_t op) {
  if (rank() != root) {
    wait(irecv(root, kBroadcastTag, data), {Phase::kGathering, op, root});
    return;
  }
  std::vector<Request> sent(static_cast<size_t>(size()));
  for (int peer = 0; peer < size(); ++peer) {
    if (peer != root) sent[static_cast<size_t>(peer)] = isend(peer, kBroadcastTag, data);
  }
  for (int peer = 0; peer < size(); ++peer) {
    if (peer != root) wait(sent[static_cast<size_t>(peer)], {Phase::kGathering, op, peer});
  }
}

std::vector<std::vector<std::byte>> Communicator::all_gather(std::span<const std::byte> mine, int64_t op) {
  const int ranks = size();
  std::vector<std::vector<std::byte>> all(static_cast<size_t>(ranks));
  all[static_cast<size_t>(rank())].assign(mine.begin(), mine.end());
  for (int distance = 1; distance < ranks; ++distance) {
    const int to = (rank() + distance) % ranks, from = (rank() + ranks - distance) % ranks;
    const uint64_t out_size = mine.size();
    uint64_t in_size = 0;
    exchange(*this, kLengthTag, to, std::as_bytes(std::span(&out_size, 1)), from,
             std::as_writable_bytes(std::span(&in_size, 1)), Phase::kGathering, op);
    std::vector<std::byte>& in = all[static_cast<size_t>(from)];
    in.resize(in_size);
    exchange(*this, kGatherTag, to, mine, from, in, Phase::kGathering, op);
  }
  return all;
}

}  // namespace counterpoise
