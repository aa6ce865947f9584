// SPDX-License-Identifier: Apache-2.0
// The bfloat16 kernels in the compiler's own vectors with an emulated tile machine: for any CPU.
#pragma GCC diagnostic ignored "-Wpsabi"  // wide vectors are only passed between inlined functions
#include "kernels/tiles/kernel_table.h"
#include "tiles_emulated.h"
#include "vec_bfloat16_portable.h"

namespace counterpoise::testing_attention {

extern const TileKernels kEmulatedPortable, kEmulatedDotPortable;
const TileKernels kEmulatedPortable =
    tile_kernels<TilesEmulated<VecBfloat16Portable, Multiplier::kTdpbf16ps>, VecBfloat16Portable>();
const TileKernels kEmulatedDotPortable =
    tile_kernels<TilesEmulated<VecBfloat16Portable, Multiplier::kVdpbf16ps>, VecBfloat16Portable>();

}  // namespace counterpoise::testing_attention
