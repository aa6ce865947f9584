// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

#include "kernels/dtype.h"
#if defined(__x86_64__)
#include "kernels/tiles/tiles_amx.h"
#endif

// The multiply-add peak of one core's bfloat16 tiles, from tile registers alone. Random operands: on zeros
// the multiplier runs a quarter faster than it ever does on data.
namespace counterpoise::bench {

// Runs rounds * 4 products of 16 x 32 by 32 x 16; returns the flops. Only for CPUs with AMX.
inline double tile_peak_amx(int64_t rounds) {
#if defined(__x86_64__)
  static const struct alignas(64) Operands {
    uint16_t tile[4][16 * 32];

    Operands() {
      uint32_t state = 1;
      for (auto& t : tile)
        for (uint16_t& x : t) {
          state = state * 1664525u + 1013904223u;
          x = float_to_bfloat16(static_cast<float>(static_cast<int32_t>(state)) * 0x1p-31f);
        }
    }
  } operands;
  TilesAmx::configure();
  TilesAmx::load<4>(operands.tile[0], 64);
  TilesAmx::load<5>(operands.tile[1], 64);
  TilesAmx::load<6>(operands.tile[2], 64);
  TilesAmx::load<7>(operands.tile[3], 64);
  TilesAmx::zero<0>();
  TilesAmx::zero<1>();
  TilesAmx::zero<2>();
  TilesAmx::zero<3>();
  for (int64_t i = 0; i < rounds; ++i) {
    TilesAmx::multiply<0, 4, 6>();
    TilesAmx::multiply<1, 4, 7>();
    TilesAmx::multiply<2, 5, 6>();
    TilesAmx::multiply<3, 5, 7>();
  }
  TilesAmx::release();
  return static_cast<double>(rounds) * 4 * (2 * 16 * 16 * 32);
#else
  return 0 * static_cast<double>(rounds);
#endif
}

}  // namespace counterpoise::bench
