// SPDX-License-Identifier: Apache-2.0
#include "kernels/tiles/kernel_table.h"
#include "kernels/tiles/tiles_dot.h"
#include "kernels/tiles/vec_bfloat16_avx512.h"

namespace counterpoise {

extern const TileKernels kTilesDot;
const TileKernels kTilesDot = tile_kernels<TilesDot, VecBfloat16Avx512>();

}  // namespace counterpoise
