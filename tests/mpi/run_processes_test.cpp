// SPDX-License-Identifier: Apache-2.0
// `counterpoise run` under mpirun.
#include <csignal>
#include <nlohmann/json.hpp>
#include <thread>

#include "mpirun.h"

namespace counterpoise {
namespace {

class RunProcesses : public MpiTest {};

std::string run_command(const std::string& options) {
  return fmt::format(
      "{} run \"dist:lognormal(median=120,sigma=1.2,max=1k)\" --heads 4 --kv-heads 1 --head-dim 32 "
      "--gradient 64k {}",
      COUNTERPOISE_BINARY, options);
}

nlohmann::json json_of(int ranks, const std::string& options, int timeout_seconds = 100) {
  MpiJob job(ranks, run_command(options + " --json -"), timeout_seconds);
  job.wait();
  EXPECT_EQ(job.exit_code(), 0) << options << "\n" << job.output();
  const auto json = nlohmann::json::parse(job.output(), nullptr, false);
  EXPECT_FALSE(json.is_discarded()) << job.output();
  return json;
}

TEST_F(RunProcesses, FourProcessesInTwoGroupsAreExact) {
  const auto json = json_of(4, "--window 512 --dp 2 --cp 2 --steps 2 --backward --check oracle");
  EXPECT_EQ(json["communicator"], "mpi");
  EXPECT_TRUE(json["check"]["ok"]);
  EXPECT_EQ(json["check"]["tensors"].size(), 5u);
  EXPECT_EQ(json["per_rank"].size(), 4u);
  EXPECT_GE(json["slowdown"], 1.0);
  for (const auto& rank : json["per_rank"]) {
    EXPECT_GT(rank["bytes_in_place"], 0);  // keys and values were read where they lie
    EXPECT_GT(rank["compute_seconds"], 0.0);
    EXPECT_GE(rank["process_peak_bytes"], rank["peak_bytes"]);
  }
}

TEST_F(RunProcesses, MessagesGiveTheSameResults) {
  const auto json = json_of(3, "--window 384 --dp 1 --cp 3 --steps 1 --backward --check oracle --messages");
  EXPECT_TRUE(json["check"]["ok"]);
  for (const auto& rank : json["per_rank"]) EXPECT_EQ(rank["bytes_in_place"], 0);
}

TEST_F(RunProcesses, SlowOddAndManyRanksAreExact) {
  for (const int cp : {3, 5, 7, 16}) {
    for (const std::string scheme : {"ring", "all_gather", "direct"}) {
      for (const std::string transport : {"", " --messages"}) {
        const auto json = json_of(
            cp, fmt::format("--window 300 --dp 1 --cp {} --windows 1 --steps 1 --backward --check oracle "
                            "--scheme {}{}",
                            cp, scheme, transport));
        EXPECT_TRUE(json["check"]["ok"]) << cp << " " << scheme << transport;
      }
    }
  }
}

// The bytes the ranks count against what the processes really took: both grow alike from a small run to a
// large one. The kernels' own scratch is not counted, hence the room above.
TEST_F(RunProcesses, CountedMemoryMatchesTheProcesses) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "a sanitizer's own memory counts as the process's";
#endif
  const std::string options =
      " --windows 1 --dp 1 --cp 2 --steps 1 --backward --check none --messages "
      "--window ";
  const auto small = json_of(2, options + "1k"), large = json_of(2, options + "32k");
  for (const int rank : {0, 1}) {
    const auto grown = [&](const char* key) {
      return large["per_rank"][rank][key].get<double>() - small["per_rank"][rank][key].get<double>();
    };
    const double ratio = grown("process_peak_bytes") / grown("peak_bytes");
    std::printf("rank %d: counted %.1f MiB more, process %.1f MiB more\n", rank,
                grown("peak_bytes") / (1 << 20), grown("process_peak_bytes") / (1 << 20));
    EXPECT_GT(ratio, 0.85);
    EXPECT_LT(ratio, 2.0);
  }
}

TEST_F(RunProcesses, AWorldOfAnotherSizeIsRefused) {
  MpiJob job(3, run_command("--dp 2 --cp 2"));
  job.wait();
  EXPECT_EQ(job.exit_code(), 4) << job.output();
  EXPECT_NE(job.output().find("--dp 2 x --cp 2 needs 4 ranks but 3 were started: use mpirun -n 4"),
            std::string::npos)
      << job.output();
}

// The whole command, hit from outside in the middle of its work.
class RunAccident : public RunProcesses, public ::testing::WithParamInterface<int> {};

TEST_P(RunAccident, EndsWithinTenSecondsAndNamesTheRank) {
  MpiJob job(
      4,
      run_command(
          "--window 1k --dp 2 --cp 2 --steps 100000 --order sample --backward --check none --windows 1"),
      60);
  const int victim = job.process_of(3);
  ASSERT_GT(victim, 0);
  std::this_thread::sleep_for(std::chrono::seconds(6));
  const auto begin = std::chrono::steady_clock::now();
  MpiJob::signal(victim, GetParam());
  job.wait();
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  EXPECT_LT(seconds, 10) << job.output();
  EXPECT_NE(job.exit_code(), 0);
  EXPECT_NE(job.output().find(fmt::format("rank 3 (process {})", victim)), std::string::npos) << job.output();
}

INSTANTIATE_TEST_SUITE_P(Signals, RunAccident, ::testing::Values(SIGKILL, SIGSTOP),
                         [](const auto& at) { return at.param == SIGKILL ? "SlowKill" : "SlowStop"; });

}  // namespace
}  // namespace counterpoise
