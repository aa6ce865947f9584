# SPDX-License-Identifier: Apache-2.0
# The pricing of pieces is the simulator's inner loop; -O2 of gcc 12 neither unrolls nor vectorises it.
set_source_files_properties(${CMAKE_CURRENT_SOURCE_DIR}/sim/window_costs.cpp PROPERTIES COMPILE_OPTIONS -O3)
