# SPDX-License-Identifier: Apache-2.0
# mpi.cpp is the only file that sees MPI; mpi_absent.cpp stands in for it. Both are in the glob and guard
# themselves, so that "not built" is a link-time fact of this folder and nothing outside knows.
if(NOT COUNTERPOISE_MPI STREQUAL "OFF" AND MPI_CXX_FOUND)
  target_link_libraries(counterpoise_comm PRIVATE MPI::MPI_CXX)
  target_compile_definitions(counterpoise_comm PRIVATE COUNTERPOISE_WITH_MPI OMPI_SKIP_MPICXX MPICH_SKIP_MPICXX)
endif()
