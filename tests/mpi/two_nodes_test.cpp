// SPDX-License-Identifier: Apache-2.0
// Ranks on two nodes, so that messages between them take another way than those within.
#include "command.h"
#include "counterpoise/links.h"
#include "mpirun.h"

namespace counterpoise {
namespace {

constexpr int kNoNamespaces = 77;

// `command` under mpirun, two ranks on each node.
Outcome on_two_nodes(const std::string& command) {
  return run_shell("timeout -k 2 100 " COUNTERPOISE_SOURCE "/tests/mpi/two_nodes 2 " COUNTERPOISE_BINARY " " +
                   command);
}

int64_t most_ranks(const LinkLevel& level, Collective op) {
  int64_t ranks = 0;
  for (const LinkCurve& curve : level.curves)
    if (curve.op == op) ranks = std::max(ranks, curve.ranks);
  return ranks;
}

#define REQUIRE_TWO_NODES(outcome)                               \
  if (!no_mpi_reason().empty()) GTEST_SKIP() << no_mpi_reason(); \
  if ((outcome).exit_code == kNoNamespaces) GTEST_SKIP() << "network namespaces need root and iproute2"

TEST(TwoNodes, CalibrateTellsTheNetworkFromTheNode) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "fitting links takes minutes where every allocation is traced";
#endif
  const ScratchFile profile("two_nodes.json", "");
  const Outcome outcome = on_two_nodes(
      "calibrate --forward-only --max-tokens 128 --budget 10s --max-message 64k -o " + profile.path());
  REQUIRE_TWO_NODES(outcome);
  ASSERT_EQ(outcome.exit_code, 0) << outcome.output;
  EXPECT_NE(outcome.output.find("4 ranks on 2 nodes, transport mpi"), std::string::npos) << outcome.output;
  const Links links = load_links(profile.path());
  ASSERT_EQ(links.levels.size(), 2u);
  const LinkLevel &node = links.level("node"), &network = links.level("network");
  EXPECT_GT(network.seconds(Collective::kSendRecv, 2, 32 << 10), 0);
  EXPECT_EQ(most_ranks(network, Collective::kAllGather), 4);
  EXPECT_EQ(most_ranks(node, Collective::kAllGather), 2);
}

// Ranks of the other node wait for a first rank that measures for longer than any timeout.
TEST(TwoNodes, SlowTheKernelMayBeMeasuredForLong) {
  const Outcome outcome =
      on_two_nodes("calibrate --forward-only --max-tokens 8k --budget 20s --max-message 8k");
  REQUIRE_TWO_NODES(outcome);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.output;
}

TEST(TwoNodes, APlanRunsExactlyAcrossThem) {
  for (const char* scheme : {"ring", "all_gather", "double_ring"}) {
    const Outcome outcome = on_two_nodes(
        "run --lengths 'dist:uniform(min=64,max=900)' --window 1k --cp 4 --dp 1 --steps 1 --backward "
        "--gradient 64k "
        "--scheme " +
        std::string(scheme));
    REQUIRE_TWO_NODES(outcome);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.output;
    EXPECT_NE(outcome.output.find(scheme), std::string::npos) << outcome.output;
  }
}

}  // namespace
}  // namespace counterpoise
