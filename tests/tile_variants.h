// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "attention_cases.h"
#include "kernels/amx/backward_driver.h"
#include "kernels/amx/cpu.h"
#include "kernels/amx/forward_driver.h"
#include "kernels/backend.h"

// The bfloat16 kernels on every tile machine there is: AMX itself, and emulated ones that run anywhere.
namespace counterpoise {
#if defined(__x86_64__)
extern const TileKernels kTilesAmx;
#endif
}  // namespace counterpoise

namespace counterpoise::testing_attention {

extern const TileKernels kEmulatedPortable;
#if defined(__x86_64__)
extern const TileKernels kEmulatedAvx512;
#endif

enum class TileVariant { kPortable, kAvx512, kAmx };
inline constexpr TileVariant kTileVariants[] = {TileVariant::kPortable, TileVariant::kAvx512,
                                                TileVariant::kAmx};

inline std::string tile_variant_name(TileVariant variant) {
  return variant == TileVariant::kAmx      ? "amx"
         : variant == TileVariant::kAvx512 ? "emulated_avx512"
                                           : "emulated_portable";
}

inline void PrintTo(TileVariant variant, std::ostream* out) {
  *out << tile_variant_name(variant);
}

// Null where this CPU cannot run it.
inline const TileKernels* tile_kernels_of(TileVariant variant) {
  if (variant == TileVariant::kPortable) return &kEmulatedPortable;
#if defined(__x86_64__)
  const std::vector<Isa> available = available_isas();
  auto has = [&](Isa isa) { return std::find(available.begin(), available.end(), isa) != available.end(); };
  if (variant == TileVariant::kAvx512 && has(Isa::kAvx512)) return &kEmulatedAvx512;
  if (variant == TileVariant::kAmx && has(Isa::kAmx)) return &kTilesAmx;
#endif
  return nullptr;
}

inline AttentionProblem resolved_problem(const Problem& p, int threads, bool accumulate = false) {
  HeadShape shape = p.shape;
  shape.softmax_scale = shape.scale();
  shape.v_head_dim = shape.value_dim();
  return {p.tiles, shape, p.mask, threads, accumulate};
}

inline Runner with_tiles(const TileKernels& kernels, int threads = 1) {
  return {[=, &kernels](const Problem& p, const ForwardTensors& t) {
            tile_forward(kernels, *backend_of(Isa::kPortable), resolved_problem(p, threads), t);
          },
          [=, &kernels](const Problem& p, const BackwardTensors& t) {
            tile_backward(kernels, *backend_of(Isa::kPortable), resolved_problem(p, threads), t);
          }};
}

}  // namespace counterpoise::testing_attention
