// SPDX-License-Identifier: Apache-2.0
#include "kernels/tiles/kernel_table.h"
#include "kernels/tiles/tiles_amx.h"
#include "kernels/tiles/vec_bfloat16_avx512.h"

namespace counterpoise {

extern const TileKernels kTilesAmx;
const TileKernels kTilesAmx = tile_kernels<TilesAmx, VecBfloat16Avx512>();

}  // namespace counterpoise
