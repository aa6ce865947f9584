// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>

#include "counterpoise/communicator.h"
#include "counterpoise/error.h"

namespace counterpoise {

bool mpi_launched() {
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMIX_RANK", "PMI_SIZE"}) {
    if (std::getenv(name) != nullptr) return true;
  }
  return false;
}

#ifndef COUNTERPOISE_WITH_MPI
bool mpi_built() {
  return false;
}

std::unique_ptr<Communicator> make_mpi_communicator(const MpiOptions&) {
  throw_error(ErrorKind::kNotBuilt,
              "MPI is not built in: install libopenmpi-dev and build with cmake -DCOUNTERPOISE_MPI=ON");
}
#endif

}  // namespace counterpoise
