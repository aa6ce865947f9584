// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

namespace counterpoise {

// One job under mpirun, with what Open MPI needs for root and for more ranks than cores, and under `timeout`.
class MpiJob {
 public:
  // `command` is a shell command line , quotes and all.
  MpiJob(int ranks, const std::string& command, int timeout_seconds = 60);
  ~MpiJob();
  MpiJob(const MpiJob&) = delete;
  MpiJob& operator=(const MpiJob&) = delete;

  // Process of a rank; waits until all are there. 0 if they do not come.
  int process_of(int rank) const;
  // Of mpirun itself.
  int launcher() const;
  // Sends a signal to one process of this job.
  static void signal(int process, int number);
  // Until the job ends.
  void wait();

  int exit_code() const { return exit_code_; }
  const std::string& output() const { return output_; }  // of all ranks and mpirun
  bool timed_out() const { return exit_code_ == 124 || exit_code_ == 137; }

 private:
  int timeout_process_ = 0;
  int pipe_ = -1;
  int exit_code_ = -1;
  std::string output_;
};

// Empty when multi-process tests can run here, else why not.
std::string no_mpi_reason();

class MpiTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const std::string reason = no_mpi_reason(); !reason.empty()) GTEST_SKIP() << reason;
  }
};

}  // namespace counterpoise
