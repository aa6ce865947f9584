# SPDX-License-Identifier: Apache-2.0
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  set_source_files_properties(${CMAKE_CURRENT_SOURCE_DIR}/conformance/tiles_emulated_avx512.cpp PROPERTIES COMPILE_OPTIONS
    "-O3;-mavx512f;-mavx512bw;-mavx512dq;-mavx512vl;-mavx2;-mfma;-Wno-uninitialized;-Wno-maybe-uninitialized")
endif()
