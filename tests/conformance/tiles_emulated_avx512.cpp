// SPDX-License-Identifier: Apache-2.0
// The bfloat16 kernels with the vectors of AVX-512 and an emulated tile machine. Compiled for AVX-512
// (kind.cmake).
#if defined(__x86_64__)
#include "kernels/tiles/kernel_table.h"
#include "kernels/tiles/vec_bfloat16_avx512.h"
#include "tiles_emulated.h"

namespace counterpoise::testing_attention {

extern const TileKernels kEmulatedAvx512, kEmulatedDotAvx512;
const TileKernels kEmulatedAvx512 =
    tile_kernels<TilesEmulated<VecBfloat16Avx512, Multiplier::kTdpbf16ps>, VecBfloat16Avx512>();
const TileKernels kEmulatedDotAvx512 =
    tile_kernels<TilesEmulated<VecBfloat16Avx512, Multiplier::kVdpbf16ps>, VecBfloat16Avx512>();

}  // namespace counterpoise::testing_attention
#endif
