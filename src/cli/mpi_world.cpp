// SPDX-License-Identifier: Apache-2.0
#include "cli/mpi_world.h"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>

#include "counterpoise/error.h"

namespace counterpoise {
namespace {

// Called by the watchdog's thread when this process has to end where it is.
[[noreturn]] void end_now(const std::string& sentence) {
  fmt::print(stderr, "counterpoise: {}\n", sentence);
  std::fflush(stderr);
  _exit(static_cast<int>(ErrorKind::kCheckFailed));
}

}  // namespace

void run_under_mpi(const RunLimits& limits, const std::function<void(Communicator&)>& body) {
  block_sigterm();
  const auto world = make_mpi_communicator({limits, end_now});
  try {
    body(*world);
  } catch (const CLI::RuntimeError&) {
    throw;
  } catch (const std::exception& error) {
    world->fail(error.what());
    throw;
  }
}

}  // namespace counterpoise
