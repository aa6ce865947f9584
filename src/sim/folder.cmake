# SPDX-License-Identifier: Apache-2.0
# The pricing of pieces is the simulator's inner loop; -O2 of gcc 12 neither unrolls nor vectorises it.
set_source_files_properties(${CMAKE_CURRENT_SOURCE_DIR}/sim/window_costs.cpp PROPERTIES COMPILE_OPTIONS -O3)

# The laws convolve distributions with KISS FFT's header-only transform (BSD-3-Clause).
find_path(KISSFFT_INCLUDE kissfft/kissfft.hh)
if(NOT KISSFFT_INCLUDE)
  message(FATAL_ERROR "kissfft/kissfft.hh was not found (Debian: libkissfft-dev)")
endif()
target_include_directories(counterpoise_sim SYSTEM PRIVATE ${KISSFFT_INCLUDE})
