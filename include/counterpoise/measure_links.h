// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "counterpoise/communicator.h"
#include "counterpoise/links.h"

namespace counterpoise {

// How messages between the ranks of a run are timed.
struct LinkTiming {
  double budget_seconds = 10;  // wall clock; sizes that it has no room for are left out, the largest first
  int64_t smallest = 1 << 10;  // bytes, doubled up to `largest`
  int64_t largest = 64 << 20;
  std::vector<int> node_of;  // by rank; empty: ranks that can map each other's memory share a node
};

// One row per timed size, and how far its samples lie apart.
struct TimedLinks {
  std::vector<LinkMeasurement> rows;
  double noise = 0;       // median over the rows of median round / best round - 1
  std::string transport;  // name of the communicator
  int ranks = 0;
  int nodes = 0;
};

// Times, on the wall clock, at every level present (in a node, between nodes):
//   send_recv   pairs of ranks, one pair at a time: half a round trip of one message
//   all_gather, all_reduce, all_to_all   among 2, 4, 8 ... ranks and all of the level: from a barrier until
//   the
//               slowest rank is done; bytes as moved_bytes counts them. reduce_scatter is not timed: the
//               communicator has none by itself.
// A row's time is that of its best round (a round repeats a small message and takes the median): whatever
// else runs only adds. Rounds go on until the budget is spent. Collective over `world` (two ranks at least,
// else kInfeasible); every rank gets the same rows. Ends with the communicator's Error when a rank is lost.
TimedLinks measure_links(Communicator& world, const LinkTiming& timing,
                         const std::function<void(const std::string& what, double done)>& progress = {});

// Links fitted to such rows, with the errors of the fit and of 5-fold cross-validation, the date, the noise
// and every row in its calibration.
Links fit_timed_links(const TimedLinks& timed);

}  // namespace counterpoise
