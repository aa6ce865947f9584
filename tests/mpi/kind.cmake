# SPDX-License-Identifier: Apache-2.0
# What mpirun starts for tests of the communicator itself.
if(TARGET test_mpi)
  add_executable(mpi_rank ${CMAKE_CURRENT_SOURCE_DIR}/mpi/rank/mpi_rank.cpp)
  target_link_libraries(mpi_rank PRIVATE counterpoise_exec)
  add_dependencies(test_mpi mpi_rank)
  target_compile_definitions(test_mpi PRIVATE COUNTERPOISE_MPI_RANK="$<TARGET_FILE:mpi_rank>")
endif()
