// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>

#include "counterpoise/communicator.h"

namespace counterpoise {

// Runs body as one rank of the job that mpirun started. An exception out of it marks this rank failed, so
// that the others stop; CLI::RuntimeError, which every rank throws alike, does not.
void run_under_mpi(const RunLimits& limits, const std::function<void(Communicator&)>& body);

}  // namespace counterpoise
