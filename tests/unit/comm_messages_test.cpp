// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <random>
#include <thread>

#include "comm/arena.h"
#include "counterpoise/communicator.h"
#include "counterpoise/error.h"
#include "counterpoise/random.h"

namespace counterpoise {
namespace {

using Seconds = std::chrono::duration<double>;

std::span<const std::byte> bytes(const std::vector<int>& data) {
  return std::as_bytes(std::span(data));
}
std::span<std::byte> bytes(std::vector<int>& data) {
  return std::as_writable_bytes(std::span(data));
}

RunLimits impatient() {
  return {.silence_seconds = 5, .wait_seconds = 0.5};
}

// Every rank sends to every rank, itself included, two messages of one tag and one of another.
void all_pairs(Communicator& comm) {
  const int ranks = comm.size();
  std::vector<std::vector<int>> in(static_cast<size_t>(3 * ranks), std::vector<int>(5)), out = in;
  std::vector<std::pair<Communicator::Request, int>> requests;
  for (int peer = 0; peer < ranks; ++peer) {
    for (int i = 0; i < 3; ++i) {
      const auto slot = static_cast<size_t>(3 * peer + i);
      out[slot].assign(5, 1000 * comm.rank() + 10 * peer + i);
      requests.emplace_back(comm.irecv(peer, i == 2 ? 7 : 3, bytes(in[slot])), peer);
      requests.emplace_back(comm.isend(peer, i == 2 ? 7 : 3, bytes(std::as_const(out[slot]))), peer);
    }
  }
  for (auto request = requests.rbegin(); request != requests.rend(); ++request) {
    comm.wait(request->first, {Phase::kReceiving, 0, request->second});
  }
  for (int peer = 0; peer < ranks; ++peer) {
    for (int i = 0; i < 3; ++i) {
      EXPECT_EQ(in[static_cast<size_t>(3 * peer + i)][4], 1000 * peer + 10 * comm.rank() + i);
    }
  }
}

void all_collectives(Communicator& comm) {
  const int ranks = comm.size();
  for (const int size : {0, 1, 2, 7, 100}) {
    std::vector<float> data(static_cast<size_t>(size));
    for (int i = 0; i < size; ++i) data[static_cast<size_t>(i)] = static_cast<float>(i + comm.rank());
    comm.all_reduce_sum(data);
    for (int i = 0; i < size; ++i) {
      EXPECT_EQ(data[static_cast<size_t>(i)], static_cast<float>(ranks * i + ranks * (ranks - 1) / 2));
    }
  }
  for (int root = 0; root < ranks; ++root) {
    std::vector<int> data(3, comm.rank());
    comm.broadcast(bytes(data), root);
    EXPECT_EQ(data, std::vector<int>(3, root));
  }
  const std::vector<int> mine(static_cast<size_t>(comm.rank()), comm.rank());
  const auto all = comm.all_gather(bytes(mine));
  for (int peer = 0; peer < ranks; ++peer) {
    ASSERT_EQ(all[static_cast<size_t>(peer)].size(), sizeof(int) * static_cast<size_t>(peer));
  }
  comm.barrier();
}

TEST(CommThreads, MessagesOfATagKeepTheirOrderAndTagsDoNotMix) {
  for (const int ranks : {1, 2, 3, 8}) run_on_threads(ranks, all_pairs);
}

TEST(CommThreads, Collectives) {
  for (const int ranks : {1, 2, 3, 5, 8}) run_on_threads(ranks, all_collectives);
}

TEST(CommThreads, AllReduceHasTheSameBitsEverywhere) {
  std::vector<std::vector<float>> results(5);
  run_on_threads(5, [&](Communicator& comm) {
    RandomStream random(42, static_cast<uint64_t>(comm.rank()));
    std::vector<float> data(1001);
    for (float& x : data) x = static_cast<float>(random.normal());
    comm.all_reduce_sum(data);
    results[static_cast<size_t>(comm.rank())] = data;
  });
  for (const auto& result : results) EXPECT_EQ(result, results[0]);
}

TEST(CommThreads, GroupsAreApart) {
  run_on_threads(6, [](Communicator& world) {
    const auto group = make_group(world, world.rank() / 3 * 3, 3);
    EXPECT_EQ(group->rank(), world.rank() % 3);
    EXPECT_EQ(group->world_rank(0), world.rank() / 3 * 3);
    std::vector<float> data{static_cast<float>(world.rank())};
    group->all_reduce_sum(data);
    EXPECT_EQ(data[0], world.rank() < 3 ? 3.0f : 12.0f);
    all_collectives(*group);
    all_collectives(world);
  });
}

TEST(CommThreads, ABarrierWaitsForTheLast) {
  std::atomic<int> arrived{0};
  run_on_threads(4, [&](Communicator& comm) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10 * comm.rank()));
    ++arrived;
    comm.barrier();
    EXPECT_EQ(arrived, 4);
  });
}

TEST(CommThreads, AMessageOfAnotherSizeIsAnError) {
  try {
    run_on_threads(2, [](Communicator& comm) {
      std::vector<int> data(comm.rank() == 0 ? 3 : 4);
      if (comm.rank() == 0) comm.wait(comm.isend(1, 0, bytes(std::as_const(data))), {Phase::kSending, 0, 1});
      if (comm.rank() == 1) comm.wait(comm.irecv(0, 0, bytes(data)), {Phase::kReceiving, 0, 0});
    });
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "rank 1: message 0 from rank 0 has 12 bytes, which is not what was expected");
  }
}

std::string failure_of(int ranks, const std::function<void(Communicator&)>& body) {
  try {
    run_on_threads(ranks, body, impatient());
  } catch (const std::exception& error) {
    return error.what();
  }
  return "no error";
}

TEST(CommThreads, ARankThatThrowsStopsTheOthersAtOnce) {
  const auto begin = std::chrono::steady_clock::now();
  std::string seen_by_one;
  const std::string text = failure_of(2, [&](Communicator& comm) {
    if (comm.rank() == 0) throw Error(ErrorKind::kCheckFailed, "out of cheese");
    std::vector<int> data(1);
    try {
      comm.wait(comm.irecv(0, 0, bytes(data)), {Phase::kReceiving, 4, 0});
    } catch (const Error& error) {
      seen_by_one = error.what();
      throw;
    }
  });
  EXPECT_EQ(text, "out of cheese");
  EXPECT_EQ(seen_by_one, "rank 1, receiving from rank 0 in op 4: rank 0 failed (out of cheese)");
  EXPECT_LT(Seconds(std::chrono::steady_clock::now() - begin).count(), 0.4);
}

// A rank that reads its neighbour's keys in place may be slow to notice that the neighbour failed.
TEST(CommThreads, SharedMemoryOfAFailedRankStaysWhileOthersReadIt) {
  constexpr int64_t kBytes = 4000;
  std::atomic<bool> freed{false};
  int64_t intact = 0;
  failure_of(2, [&](Communicator& comm) {
    uint64_t place = 0;
    if (comm.rank() == 0) {
      std::byte* mine = comm.allocate_shared(kBytes);
      std::fill_n(mine, kBytes, std::byte{7});
      place = comm.locate(mine);
      comm.wait(comm.isend(1, 0, std::as_bytes(std::span(&place, 1))), {Phase::kSending, 0, 1});
      comm.fail("out of cheese");
      comm.free_shared(mine, kBytes);
      freed = true;
      return;
    }
    comm.wait(comm.irecv(0, 0, std::as_writable_bytes(std::span(&place, 1))), {Phase::kReceiving, 0, 0});
    while (!freed) std::this_thread::yield();
    const std::byte* theirs = comm.map(0, place);
    intact = std::count(theirs, theirs + kBytes, std::byte{7});
  });
  EXPECT_EQ(intact, kBytes);
}

TEST(CommThreads, ARankThatNeverSendsIsNamedWithOpAndPeer) {
  const std::string text = failure_of(3, [](Communicator& comm) {  // everybody waits for the next one
    std::vector<int> data(1);
    const int next = (comm.rank() + 1) % 3;
    std::this_thread::sleep_for(std::chrono::milliseconds(50 * comm.rank()));
    comm.wait(comm.irecv(next, 0, bytes(data)), {Phase::kReceiving, 10 + comm.rank(), next});
  });
  // A ring of waits: whichever rank loses patience first names its own op and peer, and where the peer
  // stands.
  bool named = false;
  for (int rank = 0; rank < 3; ++rank) {
    const int next = (rank + 1) % 3, after = (rank + 2) % 3;
    const std::string wait =
        fmt::format("rank {}, receiving from rank {} in op {}: nothing came for", rank, next, 10 + rank);
    const std::string peer =
        fmt::format("rank {} does not get on (receiving from rank {} in op {})", next, after, 10 + next);
    named = named || (text.starts_with(wait) && text.find(peer) != std::string::npos);
  }
  EXPECT_TRUE(named) << text;
}

TEST(CommThreads, ARankThatEndsWithoutSendingIsNamed) {
  const std::string text = failure_of(2, [](Communicator& comm) {
    std::vector<int> data(1);
    if (comm.rank() == 0) comm.wait(comm.irecv(1, 0, bytes(data)), {Phase::kReceiving, 12, 1});
  });
  EXPECT_NE(text.find("rank 0, receiving from rank 1 in op 12: nothing came for"), std::string::npos) << text;
  EXPECT_NE(text.find("rank 1 does not get on (done)"), std::string::npos) << text;
}

// Rank 2 computes; rank 1 waits for it and rank 0 for rank 1, both longer than the limit.
TEST(CommThreads, AChainOfWaitsThatEndsAtARankThatComputesIsWaitedFor) {
  EXPECT_EQ(
      failure_of(
          3,
          [](Communicator& comm) {
            std::vector<int> data(1);
            if (comm.rank() == 2) std::this_thread::sleep_for(std::chrono::milliseconds(1200));
            if (comm.rank() < 2)
              comm.wait(comm.irecv(comm.rank() + 1, 0, bytes(data)), {Phase::kReceiving, 1, comm.rank() + 1});
            if (comm.rank() > 0)
              comm.wait(comm.isend(comm.rank() - 1, 0, bytes(std::as_const(data))),
                        {Phase::kSending, 1, comm.rank() - 1});
          }),
      "no error");
}

TEST(CommThreads, ARankThatComputesLongIsWaitedFor) {
  EXPECT_EQ(failure_of(2,
                       [](Communicator& comm) {
                         if (comm.rank() == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1200));
                         comm.barrier();
                       }),
            "no error");
}

TEST(CommFaulty, DelayAndDisorderChangeNothing) {
  const uint64_t seed = std::random_device{}();
  SCOPED_TRACE(seed);
  run_on_threads(4, [&](Communicator& comm) {
    const auto faulty = make_faulty(comm, {.seed = seed, .delay_seconds = 0.003, .reorder = true});
    for (int i = 0; i < 5; ++i) all_pairs(*faulty);
    all_collectives(*faulty);
    const auto group = make_group(*faulty, comm.rank() / 2 * 2, 2);
    all_collectives(*group);
  });
}

TEST(CommFaulty, ADroppedMessageEndsTheRun) {
  const std::string text = failure_of(3, [](Communicator& comm) {
    const auto faulty = make_faulty(comm, {.drop_send = comm.rank() == 1 ? 2 : -1});
    all_pairs(*faulty);
  });
  EXPECT_NE(text.find("rank 1 does not get on"), std::string::npos) << text;
}

TEST(CommFaulty, ADeathEndsTheRun) {
  const std::string text = failure_of(3, [](Communicator& comm) {
    const auto faulty = make_faulty(comm, {.die_at_send = comm.rank() == 2 ? 3 : -1});
    all_pairs(*faulty);
    faulty->barrier();
  });
  EXPECT_EQ(text, "rank 2 died on purpose at send 3");
}

TEST(CommMpi, WithoutMpiTheCommunicatorSaysHowToGetIt) {
  if (mpi_built()) GTEST_SKIP() << "built with MPI";
  try {
    make_mpi_communicator({});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.exit_code(), 5);
    EXPECT_NE(std::string(error.what()).find("-DCOUNTERPOISE_MPI=ON"), std::string::npos) << error.what();
  }
}

TEST(CommArena, RandomUseNeverOverlapsAndAllComesBack) {
  const uint64_t seed = std::random_device{}();
  SCOPED_TRACE(seed);
  RandomStream random(seed);
  Arena arena(1 << 16);
  std::map<int64_t, int64_t> taken;  // offset -> bytes
  for (int i = 0; i < 5000; ++i) {
    if (random.below(2) == 0) {
      const auto bytes = static_cast<int64_t>(random.below(3000));
      const int64_t offset = arena.take(bytes);
      if (offset < 0) continue;
      ASSERT_EQ(offset % 64, 0);
      const auto after = taken.lower_bound(offset);
      if (after != taken.end()) {
        ASSERT_LE(offset + bytes, after->first);
      }
      if (after != taken.begin()) {
        ASSERT_GE(offset, std::prev(after)->first + std::prev(after)->second);
      }
      ASSERT_LE(offset + bytes, 1 << 16);
      taken.emplace(offset, std::max<int64_t>(bytes, 1));
    } else if (!taken.empty()) {
      const auto chosen = std::next(taken.begin(), static_cast<ptrdiff_t>(random.below(taken.size())));
      arena.give_back(chosen->first, chosen->second);
      taken.erase(chosen);
    }
  }
  for (const auto& [offset, bytes] : taken) arena.give_back(offset, bytes);
  EXPECT_EQ(arena.take(1 << 16), 0);
}

}  // namespace
}  // namespace counterpoise
