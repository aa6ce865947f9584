# SPDX-License-Identifier: Apache-2.0
set(kernel_dir ${CMAKE_CURRENT_SOURCE_DIR}/kernels)
file(GLOB kernel_sources CONFIGURE_DEPENDS ${kernel_dir}/reference/*.cpp ${kernel_dir}/rows/*.cpp ${kernel_dir}/simd/*.cpp
     ${kernel_dir}/tiles/*.cpp)
if(NOT CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  list(REMOVE_ITEM kernel_sources ${kernel_dir}/simd/avx2.cpp ${kernel_dir}/simd/avx512.cpp
       ${kernel_dir}/tiles/amx.cpp ${kernel_dir}/tiles/avx512_bf16.cpp)
endif()
target_sources(counterpoise_kernels PRIVATE ${kernel_sources})

# Only these files may hold instructions beyond the baseline; they are entered after asking the CPU. -O3 unrolls the
# short loops over a tile's registers. gcc's own AVX-512 headers read undefined registers on purpose (GCC bug 105593).
set_source_files_properties(${kernel_dir}/simd/portable.cpp PROPERTIES COMPILE_OPTIONS "-O3")
set_source_files_properties(${kernel_dir}/simd/avx2.cpp PROPERTIES COMPILE_OPTIONS "-O3;-mavx2;-mfma")
set(avx512_options
  "-O3;-mavx512f;-mavx512bw;-mavx512dq;-mavx512vl;-mavx2;-mfma;-Wno-uninitialized;-Wno-maybe-uninitialized")
set_source_files_properties(${kernel_dir}/simd/avx512.cpp PROPERTIES COMPILE_OPTIONS "${avx512_options}")
set_source_files_properties(${kernel_dir}/tiles/amx.cpp PROPERTIES COMPILE_OPTIONS "${avx512_options};-mamx-tile;-mamx-bf16")
set_source_files_properties(${kernel_dir}/tiles/avx512_bf16.cpp PROPERTIES COMPILE_OPTIONS "${avx512_options};-mavx512bf16")
