// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "counterpoise/measure_links.h"

namespace counterpoise {

// One thing to be timed at one size: two ranks, or ranks [first, first + ranks), do `op` on `bytes`.
struct LinkJob {
  Collective op = Collective::kSendRecv;
  int first = 0;
  int ranks = 2;
  int peer = 1;   // send_recv: the other rank
  int nodes = 1;  // that it spans
  int64_t bytes = 0;

  bool takes(int rank) const {
    return op == Collective::kSendRecv ? rank == first || rank == peer
                                       : rank >= first && rank < first + ranks;
  }
  // The rank whose clock counts; of a collective the slowest one's does.
  bool times(int rank) const { return op == Collective::kSendRecv ? rank == first : takes(rank); }
};

// The jobs of every level, by ascending size. `node_of`: of each rank.
std::vector<LinkJob> link_jobs(const std::vector<int>& node_of, const LinkTiming& timing);

// Runs `job` once within its ranks (this one is among them); seconds by this rank's clock.
class LinkRunner {
 public:
  LinkRunner(Communicator& world, int64_t largest);
  double run(const LinkJob& job);

 private:
  std::span<const std::byte> out(int64_t begin, int64_t bytes) const;
  double round_trip(const LinkJob& job);
  void collective(Communicator& group, const LinkJob& job);
  void all_to_all(Communicator& group, int64_t bytes);

  Communicator& world_;
  std::vector<float> data_;    // sent and reduced
  std::vector<std::byte> in_;  // received
};

}  // namespace counterpoise
