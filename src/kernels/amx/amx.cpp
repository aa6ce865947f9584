// SPDX-License-Identifier: Apache-2.0
#include "kernels/amx/kernel_table.h"
#include "kernels/amx/tiles_amx.h"
#include "kernels/amx/vec_bfloat16_avx512.h"

namespace counterpoise {

extern const TileKernels kTilesAmx;
const TileKernels kTilesAmx = tile_kernels<TilesAmx, VecBfloat16Avx512>();

}  // namespace counterpoise
