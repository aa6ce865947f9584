# SPDX-License-Identifier: Apache-2.0
file(GLOB kernel_sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/kernels/reference/*.cpp
                                           ${CMAKE_CURRENT_SOURCE_DIR}/kernels/rows/*.cpp)
target_sources(counterpoise_kernels PRIVATE ${kernel_sources})
