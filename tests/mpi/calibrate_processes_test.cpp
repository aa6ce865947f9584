// SPDX-License-Identifier: Apache-2.0
// `counterpoise calibrate` under mpirun.
#include <csignal>
#include <filesystem>
#include <thread>

#include "counterpoise/error.h"
#include "counterpoise/kernel_profile.h"
#include "counterpoise/links.h"
#include "mpirun.h"

namespace counterpoise {
namespace {

class CalibrateProcesses : public MpiTest {
 protected:
  void TearDown() override { std::filesystem::remove(path); }
  std::string command(const std::string& options) const {
    return fmt::format("{} calibrate --forward-only --max-tokens 128 -o {} {}", COUNTERPOISE_BINARY, path,
                       options);
  }
  const std::string path =
      std::filesystem::temp_directory_path() / fmt::format("counterpoise_{}_profile.json", getpid());
};

TEST_F(CalibrateProcesses, WritesTheLinksBetweenItsRanksOnce) {
  MpiJob job(3, command("--budget 10s --max-message 64k"), 100);
  job.wait();
  ASSERT_EQ(job.exit_code(), 0) << job.output();
  // One report: that of rank 0.
  const size_t first = job.output().find("transport mpi");
  ASSERT_NE(first, std::string::npos) << job.output();
  EXPECT_EQ(job.output().find("transport mpi", first + 1), std::string::npos) << job.output();

  const Links links = load_links(path);
  const LinkLevel& node = links.level("node");
  EXPECT_NE(links.calibration.find("cross_validated_5_folds"), std::string::npos);
  for (const Collective op :
       {Collective::kSendRecv, Collective::kAllGather, Collective::kAllReduce, Collective::kAllToAll})
    for (const int64_t ranks : {2, 3}) {
      EXPECT_FALSE(node.extrapolated(op, ranks, 32 << 10)) << collective_name(op) << " " << ranks;
      EXPECT_GT(node.seconds(op, ranks, 32 << 10), 0);
    }
  EXPECT_TRUE(node.extrapolated(Collective::kReduceScatter, 2, 32 << 10));  // composed
  // The kernel of the same file, and the links with it.
  const KernelProfilePtr profile = load_kernel_profile(path);
  EXPECT_EQ(links_text(parse_links(profile->info().links, "again")), links_text(links));
}

TEST_F(CalibrateProcesses, SlowAKilledRankEndsTheOthersAndWritesNothing) {
  MpiJob job(3, command("--budget 100s --max-message 64M"), 60);
  const int victim = job.process_of(2);
  ASSERT_GT(victim, 0);
  std::this_thread::sleep_for(std::chrono::seconds(2));
  MpiJob::signal(victim, SIGKILL);
  job.wait();
  EXPECT_NE(job.exit_code(), 0);
  EXPECT_NE(job.output().find(" died while "), std::string::npos) << job.output();
  EXPECT_FALSE(std::filesystem::exists(path));
}

}  // namespace
}  // namespace counterpoise
