// SPDX-License-Identifier: Apache-2.0
// The bfloat16 kernels in the compiler's own vectors with an emulated tile machine: for any CPU.
#pragma GCC diagnostic ignored "-Wpsabi"  // wide vectors are only passed between inlined functions
#include "kernels/amx/kernel_table.h"
#include "tiles_emulated.h"
#include "vec_bfloat16_portable.h"

namespace counterpoise::testing_attention {

extern const TileKernels kEmulatedPortable;
const TileKernels kEmulatedPortable = tile_kernels<TilesEmulated<VecBfloat16Portable>, VecBfloat16Portable>();

}  // namespace counterpoise::testing_attention
