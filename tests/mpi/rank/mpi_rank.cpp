// SPDX-License-Identifier: Apache-2.0
// One rank of a test under mpirun: mpi_rank WHAT. Prints "ok" on rank 0 when everything held.
#include <fmt/format.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstring>
#include <thread>

#include "counterpoise/error.h"
#include "counterpoise/execute.h"

namespace counterpoise {
namespace {

void require(bool held, const char* what) {
  if (!held) throw_error(ErrorKind::kCheckFailed, "not so: {}", what);
}

std::span<std::byte> bytes(std::vector<int>& data) {
  return std::as_writable_bytes(std::span(data));
}

// Every rank sends to every rank, itself included: small, empty and large messages (beyond the eager limit),
// waited for in reverse.
void all_pairs(Communicator& comm) {
  const std::vector<size_t> sizes{0, 1, 1000, 300000};
  std::vector<std::vector<int>> in, out;
  std::vector<std::pair<Communicator::Request, int>> requests;
  for (int peer = 0; peer < comm.size(); ++peer) {
    for (const size_t size : sizes) {
      in.emplace_back(size);
      out.emplace_back(size, 100 * comm.rank() + peer);
      requests.emplace_back(comm.irecv(peer, 5, bytes(in.back())), peer);
      requests.emplace_back(comm.isend(peer, 5, bytes(out.back())), peer);
    }
  }
  for (auto request = requests.rbegin(); request != requests.rend(); ++request) {
    comm.wait(request->first, {Phase::kReceiving, 0, request->second});
  }
  for (size_t i = 0; i < in.size(); ++i) {
    const int peer = static_cast<int>(i / sizes.size());
    for (const int value : in[i]) require(value == 100 * peer + comm.rank(), "message holds what was sent");
  }
}

void collectives(Communicator& comm) {
  std::vector<float> data(1003);
  for (size_t i = 0; i < data.size(); ++i) data[i] = static_cast<float>(i) + static_cast<float>(comm.rank());
  comm.all_reduce_sum(data);
  const int n = comm.size();
  for (size_t i = 0; i < data.size(); ++i) {
    require(data[i] == static_cast<float>(n) * static_cast<float>(i) + static_cast<float>(n * (n - 1) / 2),
            "all_reduce_sum");
  }
  std::vector<int> from_last(3, comm.rank());
  comm.broadcast(bytes(from_last), n - 1);
  require(from_last[2] == n - 1, "broadcast");
  std::vector<int> mine(static_cast<size_t>(comm.rank()), 7);
  const auto all = comm.all_gather(bytes(mine));
  for (int peer = 0; peer < n; ++peer)
    require(all[static_cast<size_t>(peer)].size() == 4u * static_cast<size_t>(peer), "all_gather");
  comm.barrier();
}

// A rank reads its neighbour's memory after a word from it.
void shared_memory(Communicator& comm) {
  comm.reserve_shared(1 << 20);
  auto* mine = reinterpret_cast<int*>(comm.allocate_shared(4000));
  for (int i = 0; i < 1000; ++i) mine[i] = 1000 * comm.rank() + i;
  const uint64_t offset = comm.locate(reinterpret_cast<std::byte*>(mine));
  const int next = (comm.rank() + 1) % comm.size(), previous = (comm.rank() + comm.size() - 1) % comm.size();
  uint64_t theirs = 0;
  const auto received = comm.irecv(previous, 1, std::as_writable_bytes(std::span(&theirs, 1)));
  const auto sent = comm.isend(next, 1, std::as_bytes(std::span(&offset, 1)));
  comm.wait(received, {Phase::kReceiving, 0, previous});
  comm.wait(sent, {Phase::kSending, 0, next});
  require(comm.can_map(previous), "ranks of a node see each other's memory");
  const auto* data = reinterpret_cast<const int*>(comm.map(previous, theirs));
  for (int i = 0; i < 1000; ++i) require(data[i] == 1000 * previous + i, "neighbour's memory");
  comm.barrier();
  comm.free_shared(reinterpret_cast<std::byte*>(mine), 4000);
  try {
    comm.allocate_shared(2 << 20);
    require(false, "more than was reserved is refused");
  } catch (const Error& error) {
    require(error.kind() == ErrorKind::kInfeasible, error.what());
  }
}

void late_messages(Communicator& comm) {
  const auto faulty = make_faulty(comm, {.seed = 3, .delay_seconds = 0.002, .reorder = true});
  all_pairs(*faulty);
  collectives(*faulty);
}

void different_plans(Communicator& comm) {
  PlanRequest request;
  request.groups = {{{{0, comm.rank() == 1 ? 65 : 64}}}};
  request.cp = comm.size();
  compare_plans(make_plan(request), comm);
}

// Rank 1 leaves this world in the way asked for, in the middle of a loop of messages round the ring.
void go_round(Communicator& inner, const std::string& what) {
  const auto comm = make_faulty(inner, {.drop_send = what == "drop" && inner.rank() == 1 ? 20 : -1});
  const int next = (comm->rank() + 1) % comm->size(),
            previous = (comm->rank() + comm->size() - 1) % comm->size();
  for (int64_t op = 0; op < 1000000; ++op) {
    if (comm->rank() == 1 && op == 10 && what == "kill") raise(SIGKILL);
    if (comm->rank() == 1 && op == 10 && what == "stop") raise(SIGSTOP);
    if (comm->rank() == 1 && op == 10 && what == "throw")
      throw_error(ErrorKind::kBadInput, "rank 1 has had enough");
    if (comm->rank() == 0 && what == "compute" && op == 10)
      std::this_thread::sleep_for(std::chrono::seconds(30));
    if (comm->rank() == 1 && what == "compute" && op == 10) raise(SIGKILL);
    if (what == "sleepy" && op == 20) return;
    if (comm->rank() == 1 && op == 10 && what == "sleepy")
      std::this_thread::sleep_for(std::chrono::seconds(3));
    std::vector<int> out(10, 1), in(10);
    const auto received = comm->irecv(previous, static_cast<int>(op), bytes(in));
    const auto sent = comm->isend(next, static_cast<int>(op), bytes(out));
    comm->wait(received, {Phase::kReceiving, op, previous});
    comm->wait(sent, {Phase::kSending, op, next});
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

int run(const std::string& what) {
  block_sigterm();
  RunLimits limits;
  if (what == "sleepy") limits.wait_seconds = 1;  // a rank that computes longer than that is waited for
  const auto comm = make_mpi_communicator({limits, [](const std::string& sentence) {
                                             fmt::print(stderr, "mpi_rank: {}\n", sentence);
                                             _exit(1);
                                           }});
  try {
    if (what == "comm") {
      for (int i = 0; i < 10; ++i) all_pairs(*comm);
      collectives(*comm);
      late_messages(*comm);
      shared_memory(*comm);
    } else if (what == "plans") {
      different_plans(*comm);
    } else {
      go_round(*comm, what);
    }
    if (comm->rank() == 0) fmt::print("ok\n");
    return 0;
  } catch (const Error& error) {
    comm->fail(error.what());
    fmt::print(stderr, "mpi_rank: {}\n", error.what());
    return error.exit_code();
  }
}

}  // namespace
}  // namespace counterpoise

int main(int argc, char** argv) {
  return argc == 2 ? counterpoise::run(argv[1]) : 2;
}
