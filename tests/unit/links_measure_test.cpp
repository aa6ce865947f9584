// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <mutex>

#include "counterpoise/error.h"
#include "counterpoise/measure_links.h"
#include "exec/link_jobs.h"

namespace counterpoise {
namespace {

LinkTiming quick() {
  LinkTiming timing;
  timing.budget_seconds = 0.1;
  timing.largest = 16 << 10;
  return timing;
}

// What every rank got, by rank.
std::vector<TimedLinks> measure(int ranks, const LinkTiming& timing) {
  std::vector<TimedLinks> all(static_cast<size_t>(ranks));
  run_on_threads(ranks, [&](Communicator& world) {
    all[static_cast<size_t>(world.rank())] = measure_links(world, timing);
  });
  return all;
}

bool has(const TimedLinks& timed, Collective op, int64_t ranks, int64_t nodes) {
  return std::any_of(timed.rows.begin(), timed.rows.end(), [&](const auto& row) {
    return row.op == op && row.ranks == ranks && row.nodes == nodes;
  });
}

TEST(LinksMeasured, EveryRankGetsTheSameRowsOfEverySizeAndCollective) {
  const std::vector<TimedLinks> all = measure(3, quick());
  const TimedLinks& first = all.front();
  // Three pairs, and three collectives among two and three ranks; sizes 1, 2, 4, 8, 16 KiB.
  ASSERT_EQ(first.rows.size(), 5u * (3 + 3 * 2));
  for (const TimedLinks& other : all) {
    ASSERT_EQ(other.rows.size(), first.rows.size());
    for (size_t i = 0; i < first.rows.size(); ++i) {
      EXPECT_EQ(other.rows[i].label, first.rows[i].label);
      EXPECT_EQ(other.rows[i].seconds, first.rows[i].seconds);
      EXPECT_GT(first.rows[i].seconds, 0);
    }
  }
  EXPECT_EQ(first.nodes, 1);
  EXPECT_EQ(first.transport, "threads");
  const Links links = fit_timed_links(first);
  EXPECT_EQ(links_text(parse_links(links_text(links), "again")), links_text(links));
  EXPECT_THROW(links.level("network"), Error);
}

TEST(LinksMeasured, NodesMakeANetworkLevel) {
  LinkTiming timing = quick();
  timing.node_of = {0, 0, 1, 1};
  const TimedLinks timed = measure(4, timing).front();
  EXPECT_EQ(timed.nodes, 2);
  for (const Collective op :
       {Collective::kSendRecv, Collective::kAllGather, Collective::kAllReduce, Collective::kAllToAll})
    EXPECT_TRUE(has(timed, op, 2, 1)) << collective_name(op);
  EXPECT_TRUE(has(timed, Collective::kSendRecv, 2, 2));
  EXPECT_TRUE(has(timed, Collective::kAllReduce, 4, 2));
  EXPECT_FALSE(has(timed, Collective::kAllReduce, 4, 1));
  const Links links = fit_timed_links(timed);
  EXPECT_GT(links.level("node").seconds(Collective::kSendRecv, 2, 4096), 0);
  EXPECT_GT(links.level("network").seconds(Collective::kAllReduce, 4, 4096), 0);
}

TEST(LinksMeasured, ABudgetTooSmallLeavesOutTheLargeSizes) {
  LinkTiming timing;
  timing.budget_seconds = 1e-9;
  const TimedLinks timed = measure(2, timing).front();
  ASSERT_FALSE(timed.rows.empty());
  for (const LinkMeasurement& row : timed.rows) EXPECT_LE(row.bytes, 8 << 10) << row.label;
}

TEST(LinksMeasured, OneRankIsRefused) {
  run_on_threads(1, [](Communicator& world) {
    try {
      measure_links(world, quick());
      ADD_FAILURE() << "one rank was measured";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kInfeasible);
    }
  });
}

// Many ranks: pairs are thinned out, groups are contiguous ranks of one node, and a size's jobs come
// together.
TEST(LinkJobs, StayFewAndWithinTheirLevel) {
  std::vector<int> node_of(24);
  for (size_t rank = 0; rank < node_of.size(); ++rank) node_of[rank] = static_cast<int>(rank) / 8;
  const std::vector<LinkJob> jobs = link_jobs(node_of, quick());
  EXPECT_LE(jobs.size(), 5u * (8 + 8 + 3 * (3 + 5)));
  int64_t bytes = 0;
  for (const LinkJob& job : jobs) {
    EXPECT_GE(job.bytes, bytes);
    bytes = job.bytes;
    const int last = job.op == Collective::kSendRecv ? job.peer : job.first + job.ranks - 1;
    ASSERT_LT(last, 24);
    EXPECT_EQ(job.nodes == 1, node_of[static_cast<size_t>(job.first)] == node_of[static_cast<size_t>(last)]);
  }
}

}  // namespace
}  // namespace counterpoise
