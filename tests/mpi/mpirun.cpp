// SPDX-License-Identifier: Apache-2.0
#include "mpirun.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <thread>

#include "counterpoise/communicator.h"

namespace counterpoise {
namespace {

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

int parent_of(int process) {
  const std::string stat = read_file(fmt::format("/proc/{}/stat", process));
  const size_t name_end = stat.rfind(')');
  return name_end == std::string::npos ? 0 : std::atoi(stat.c_str() + name_end + 4);
}

std::vector<int> children_of(int process) {
  std::vector<int> children;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const int candidate = std::atoi(entry.path().filename().c_str());
    if (candidate > 0 && parent_of(candidate) == process) children.push_back(candidate);
  }
  return children;
}

int rank_of(int process) {
  const std::string environment = read_file(fmt::format("/proc/{}/environ", process));
  const std::string key("OMPI_COMM_WORLD_RANK=");
  const size_t found = environment.find(key);
  return found == std::string::npos ? -1 : std::atoi(environment.c_str() + found + key.size());
}

}  // namespace

std::string no_mpi_reason() {
  if (!mpi_built()) return "built without MPI";
  return std::system("mpirun --version >/dev/null 2>&1") == 0 ? "" : "no mpirun on this machine";
}

MpiJob::MpiJob(int ranks, const std::string& command, int timeout_seconds) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return;
  const std::string line = fmt::format("exec timeout -k 2 {} '" COUNTERPOISE_SOURCE "/tools/mpirun' -n {} {}",
                                       timeout_seconds, ranks, command);
  timeout_process_ = fork();
  if (timeout_process_ == 0) {
    dup2(ends[1], 1);
    dup2(ends[1], 2);
    execl("/bin/sh", "sh", "-c", line.c_str(), nullptr);
    _exit(127);
  }
  close(ends[1]);
  pipe_ = ends[0];
}

MpiJob::~MpiJob() {
  if (timeout_process_ > 0 && exit_code_ < 0) {
    kill(timeout_process_, SIGTERM);  // timeout passes it on
    wait();
  }
  if (pipe_ >= 0) close(pipe_);
}

int MpiJob::launcher() const {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (std::chrono::steady_clock::now() < deadline) {
    for (const int child : children_of(timeout_process_)) {
      if (read_file(fmt::format("/proc/{}/comm", child)).starts_with("mpirun")) return child;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return 0;
}

int MpiJob::process_of(int rank) const {
  const int parent = launcher();
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (parent > 0 && std::chrono::steady_clock::now() < deadline) {
    for (const int child : children_of(parent)) {
      if (rank_of(child) == rank) return child;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return 0;
}

void MpiJob::signal(int process, int number) {
  if (process > 1) kill(process, number);
}

void MpiJob::wait() {
  char buffer[4096];
  for (ssize_t n; (n = read(pipe_, buffer, sizeof buffer)) > 0;)
    output_.append(buffer, static_cast<size_t>(n));
  int status = 0;
  waitpid(timeout_process_, &status, 0);
  exit_code_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace counterpoise
