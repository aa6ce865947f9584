// SPDX-License-Identifier: Apache-2.0
// The communicator and its watchdog between processes.
#include <csignal>
#include <thread>

#include "mpirun.h"

namespace counterpoise {
namespace {

class CommProcesses : public MpiTest {};

std::string rank_command(const std::string& what) {
  return std::string(COUNTERPOISE_MPI_RANK) + " " + what;
}

// Runs to its end, which must come within ten seconds of the accident (plus starting up).
struct Accident {
  explicit Accident(const std::string& what, int ranks = 3) : job(ranks, rank_command(what), 40) {
    const auto begin = std::chrono::steady_clock::now();
    job.wait();
    seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  }
  bool says(const std::string& text) const { return job.output().find(text) != std::string::npos; }
  MpiJob job;
  double seconds = 0;
};
constexpr double kStartUp = 3;

TEST_F(CommProcesses, MessagesCollectivesAndSharedMemory) {
  for (const int ranks : {1, 2, 5}) {
    MpiJob job(ranks, rank_command("comm"));
    job.wait();
    EXPECT_EQ(job.exit_code(), 0) << job.output();
    EXPECT_EQ(job.output(), "ok\n");
  }
}

TEST_F(CommProcesses, DifferentPlansRefuseToStart) {
  const Accident accident("plans");
  EXPECT_EQ(accident.job.exit_code(), 1);
  EXPECT_TRUE(accident.says("rank 1 has plan")) << accident.job.output();
}

TEST_F(CommProcesses, AKilledRankIsNamedWithOpAndPeer) {
  const Accident accident("kill");
  EXPECT_NE(accident.job.exit_code(), 0);
  EXPECT_LT(accident.seconds, 10 + kStartUp);
  EXPECT_TRUE(accident.says("rank 1 (process")) << accident.job.output();
  EXPECT_TRUE(accident.says("died while")) << accident.job.output();
  EXPECT_TRUE(accident.says("receiving from rank 1 in op 10")) << accident.job.output();
}

TEST_F(CommProcesses, AKilledRankIsNamedEvenByARankThatComputes) {
  const Accident accident("compute", 2);
  EXPECT_NE(accident.job.exit_code(), 0);
  EXPECT_LT(accident.seconds, 10 + kStartUp);
  EXPECT_TRUE(accident.says("rank 1 (process")) << accident.job.output();
  EXPECT_TRUE(accident.says("died while")) << accident.job.output();
}

TEST_F(CommProcesses, AStoppedRankIsNamedWithOpAndPeer) {
  const Accident accident("stop");
  EXPECT_NE(accident.job.exit_code(), 0);
  EXPECT_LT(accident.seconds, 10 + kStartUp);
  EXPECT_TRUE(accident.says("has been stopped for")) << accident.job.output();
  EXPECT_TRUE(accident.says("receiving from rank 1 in op 10")) << accident.job.output();
}

TEST_F(CommProcesses, ARankThatNeverSendsIsNamedWithOpAndPeer) {
  const Accident accident("drop");
  EXPECT_NE(accident.job.exit_code(), 0);
  EXPECT_LT(accident.seconds, 10 + kStartUp);
  EXPECT_TRUE(accident.says("receiving from rank 1 in op 20")) << accident.job.output();
  EXPECT_TRUE(accident.says("nothing came for")) << accident.job.output();
}

TEST_F(CommProcesses, ARankThatThrowsEndsTheJobWithItsReason) {
  const Accident accident("throw");
  EXPECT_NE(accident.job.exit_code(), 0);
  EXPECT_LT(accident.seconds, 2 + kStartUp);
  EXPECT_TRUE(accident.says("rank 1 has had enough")) << accident.job.output();
}

TEST_F(CommProcesses, ARankThatComputesLongerThanTheLimitIsWaitedFor) {
  const Accident accident("sleepy");
  EXPECT_EQ(accident.job.exit_code(), 0) << accident.job.output();
  EXPECT_EQ(accident.job.output(), "ok\n");
}

TEST_F(CommProcesses, AnEndFromOutsideIsReportedByEveryRank) {
  MpiJob job(3, rank_command("forever"), 40);
  ASSERT_GT(job.process_of(2), 0);
  std::this_thread::sleep_for(std::chrono::milliseconds(800));
  MpiJob::signal(job.launcher(), SIGTERM);
  job.wait();
  EXPECT_NE(job.exit_code(), 0);
  for (const int rank : {0, 1, 2}) {
    EXPECT_NE(job.output().find(fmt::format("rank {}: SIGTERM, the job is being ended from outside", rank)),
              std::string::npos)
        << job.output();
  }
}

}  // namespace
}  // namespace counterpoise
