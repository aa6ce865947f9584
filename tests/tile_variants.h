// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "attention_cases.h"
#include "kernels/backend.h"
#include "kernels/tiles/backward_driver.h"
#include "kernels/tiles/cpu.h"
#include "kernels/tiles/forward_driver.h"

// The bfloat16 kernels on every tile machine there is: AMX and AVX512_BF16 themselves, and emulated ones that
// run anywhere.
namespace counterpoise {
#if defined(__x86_64__)
extern const TileKernels kTilesAmx, kTilesDot;
#endif
}  // namespace counterpoise

namespace counterpoise::testing_attention {

extern const TileKernels kEmulatedPortable, kEmulatedDotPortable;
#if defined(__x86_64__)
extern const TileKernels kEmulatedAvx512, kEmulatedDotAvx512;
#endif

struct TileVariant {
  const char* name;
  const TileKernels* kernels;
  Isa needs;  // of the CPU
};
inline const TileVariant kTileVariants[] = {
    {"emulated_portable", &kEmulatedPortable, Isa::kPortable},
    {"emulated_dot_portable", &kEmulatedDotPortable, Isa::kPortable},
#if defined(__x86_64__)
    {"emulated_avx512", &kEmulatedAvx512, Isa::kAvx512},
    {"emulated_dot_avx512", &kEmulatedDotAvx512, Isa::kAvx512},
    {"avx512_bf16", &kTilesDot, Isa::kAvx512Bf16},
    {"amx", &kTilesAmx, Isa::kAmx},
#endif
};

inline void PrintTo(const TileVariant& variant, std::ostream* out) {
  *out << variant.name;
}

// Null where this CPU cannot run it.
inline const TileKernels* tile_kernels_of(const TileVariant& variant) {
  const std::vector<Isa> available = available_isas();
  return std::ranges::find(available, variant.needs) == available.end() ? nullptr : variant.kernels;
}

inline const TileKernels* tile_kernels_of(std::string_view name) {
  const auto variant = std::ranges::find(kTileVariants, name, &TileVariant::name);
  return variant == std::end(kTileVariants) ? nullptr : tile_kernels_of(*variant);
}

// A test on every tile machine that this CPU can run.
class TileVariantTest : public ::testing::TestWithParam<TileVariant> {
 protected:
  void SetUp() override {
    kernels_ = tile_kernels_of(GetParam());
    if (!kernels_) GTEST_SKIP() << cpu_name() << " cannot run " << GetParam().name;
  }
  const TileKernels* kernels_ = nullptr;
};

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
