// SPDX-License-Identifier: Apache-2.0
// Conversions, views, strips, merging and the choice of an instruction set.
#if defined(__x86_64__) && defined(__linux__)
#include <sys/syscall.h>
#include <unistd.h>
#endif

#include "attention_cases.h"
#include "counterpoise/error.h"
#include "kernels/backend.h"
#include "kernels/simd/independent_tiles.h"
#include "kernels/strips.h"

namespace counterpoise {
namespace {

using namespace testing_attention;

constexpr float kInfinity = std::numeric_limits<float>::infinity();

TEST(AttentionParts, HalfTypesRoundTripAndRoundToNearestEven) {
  for (uint32_t x = 0; x < 0x10000; ++x) {
    const uint16_t half = static_cast<uint16_t>(x);
    const float b = bfloat16_to_float(half), f = float16_to_float(half);
    if (!std::isnan(b)) {
      ASSERT_EQ(float_to_bfloat16(b), half);
    }
    if (!std::isnan(f)) {
      ASSERT_EQ(float_to_float16(f), half);
    }
    ASSERT_EQ(std::isnan(bfloat16_to_float(float_to_bfloat16(b))), std::isnan(b));
    ASSERT_EQ(std::isnan(float16_to_float(float_to_float16(f))), std::isnan(f));
  }
  // Half way between neighbours goes to the even one; just above goes up.
  for (uint32_t x = 0; x < 0x7bff; ++x) {
    const float low = float16_to_float(static_cast<uint16_t>(x)),
                high = float16_to_float(static_cast<uint16_t>(x + 1));
    const float middle = low + (high - low) / 2;
    ASSERT_EQ(float_to_float16(middle), x + (x & 1));
    ASSERT_EQ(float_to_float16(std::nextafter(middle, kInfinity)), x + 1);
  }
  EXPECT_EQ(float_to_float16(65520.0f), 0x7c00);
  EXPECT_EQ(float_to_float16(65519.0f), 0x7bff);
  EXPECT_EQ(float_to_bfloat16(1.0f + 0x1p-8f), 0x3f80);
  EXPECT_EQ(float_to_bfloat16(1.0f + 3 * 0x1p-8f), 0x3f82);
}

TEST(AttentionParts, StripsCutAtEveryTileBoundary) {
  const std::vector<AttentionTile> tiles{{{0, 10}, {0, 4}, {0, 1}, 0, 0},
                                         {{5, 15}, {4, 8}, {0, 1}, 5, 4},
                                         {{3, 3}, {0, 9}, {0, 1}, 3, 0},
                                         {{7, 9}, {0, 0}, {0, 1}, 20, 0}};
  const std::vector<Strip> strips = strips_of(tiles);
  ASSERT_EQ(strips.size(), 4u);
  EXPECT_EQ(strips[0].rows, (Range{0, 5}));
  EXPECT_EQ(strips[1].rows, (Range{5, 10}));
  EXPECT_EQ(strips[1].tiles, (std::vector<int>{0, 1}));
  EXPECT_EQ(strips[2].rows, (Range{10, 15}));
  EXPECT_EQ(strips[3].rows, (Range{20, 22}));
  EXPECT_EQ(strips[3].tiles, (std::vector<int>{3}));
}

TEST(AttentionParts, IndependentTilesShareNoRows) {
  // Documents of 4, 3, 3 and 5 rows; then two tiles that share keys, and one that returns to the first rows
  // of q.
  std::vector<AttentionTile> tiles = tiles_of_documents(std::vector<int64_t>{0, 4, 7, 10, 15}, 1);
  tiles.push_back({{0, 2}, {0, 4}, {0, 1}, 15, 15});
  tiles.push_back({{2, 4}, {0, 4}, {0, 1}, 17, 15});
  auto sizes = [&](int64_t enough) {
    std::vector<size_t> result;
    for (const auto& batch :
         independent_tiles(tiles, enough, [](const AttentionTile& tile) { return tile.q.size(); }))
      result.push_back(batch.size());
    return result;
  };
  EXPECT_EQ(sizes(1), (std::vector<size_t>{1, 1, 1, 1, 2}));
  EXPECT_EQ(sizes(5), (std::vector<size_t>{2, 2, 2}));
  EXPECT_EQ(sizes(100), (std::vector<size_t>{6}));
  tiles.push_back({{0, 1}, {0, 1}, {0, 1}, 0, 30});
  EXPECT_EQ(sizes(1), (std::vector<size_t>{7}));
  tiles.clear();
  EXPECT_TRUE(sizes(1).empty());
}

TEST(AttentionParts, MergeHasAnIdentityAndKeepsItsWeights) {
  float out_a[] = {1, 2}, lse_a[] = {0.5f};
  float out_b[] = {std::nanf(""), std::nanf("")}, lse_b[] = {-kInfinity};
  auto merge = [&](float* out, float* lse, float* out2, float* lse2) {
    merge_partials(packed_view(out, 1, 1, 2), lse_view(lse, 1, 1), packed_view(out2, 1, 1, 2),
                   lse_view(lse2, 1, 1));
  };
  merge(out_a, lse_a, out_b, lse_b);  // nothing arrives
  EXPECT_EQ(out_a[0], 1);
  EXPECT_EQ(lse_a[0], 0.5f);
  merge(out_b, lse_b, out_a, lse_a);  // into nothing, whatever it holds
  EXPECT_EQ(out_b[1], 2);
  EXPECT_EQ(lse_b[0], 0.5f);
  float zero[] = {0, 0}, none[] = {-kInfinity}, zero2[] = {0, 0}, none2[] = {-kInfinity};
  merge(zero, none, zero2, none2);
  EXPECT_EQ(zero[0], 0);
  EXPECT_EQ(none[0], -kInfinity);
  float far[] = {7, 7}, far_lse[] = {1e4f};
  merge(far, far_lse, out_a, lse_a);
  EXPECT_EQ(far[0], 7);
  EXPECT_EQ(far_lse[0], 1e4f);
  float half[] = {3, 6}, half_lse[] = {0.5f};
  merge(half, half_lse, out_a, lse_a);
  EXPECT_FLOAT_EQ(half[0], 2);
  EXPECT_FLOAT_EQ(half_lse[0], 0.5f + std::log(2.0f));
}

TEST(AttentionParts, ForcedInstructionSetsAreRefusedByName) {
  for (const Isa isa : built_isas()) {
    EXPECT_EQ(parse_isa(isa_name(isa)), isa);
    const std::vector<Isa> available = available_isas();
    if (std::find(available.begin(), available.end(), isa) != available.end()) {
      EXPECT_EQ(resolve_isa(isa), isa);
      continue;
    }
    try {
      resolve_isa(isa);
      ADD_FAILURE() << isa_name(isa) << " was accepted";
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find(isa_name(isa)), std::string::npos) << error.what();
    }
  }
  EXPECT_THROW(parse_isa("mmx"), Error);
  EXPECT_EQ(resolve_isa(Isa::kAuto), available_isas().back());
}

#if defined(__x86_64__) && defined(__linux__)
bool process_may_use_tiles() {
  constexpr int kGetPermissions = 0x1022;  // ARCH_GET_XCOMP_PERM
  uint64_t permitted = 0;
  return syscall(SYS_arch_prctl, kGetPermissions, &permitted) == 0 && (permitted >> 18 & 1) != 0;
}

// The permission forbids small signal stacks for the rest of the process, so only what may use tiles asks.
TEST(AttentionPartsDeathTest, OtherInstructionSetsAskForNoTiles) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");  // in a new process, which has not asked yet
  auto asks_for_tiles = [](Isa isa) {
    resolve_isa(isa);
    std::exit(process_may_use_tiles());
  };
  EXPECT_EXIT(asks_for_tiles(Isa::kPortable), ::testing::ExitedWithCode(0), "");
  const std::vector<Isa> available = available_isas();
  if (std::find(available.begin(), available.end(), Isa::kAmx) == available.end())
    GTEST_SKIP() << cpu_name() << " cannot run amx";
  EXPECT_TRUE(process_may_use_tiles());
}
#endif

TEST(AttentionParts, TilesMultiplyBfloat16Alone) {
  for (const Isa isa : {Isa::kAvx512Bf16, Isa::kAmx}) {
    EXPECT_EQ(isa_of_storage(isa, DType::kBFloat16), isa);
    EXPECT_EQ(isa_of_storage(isa, DType::kFloat32), Isa::kAvx512);
    EXPECT_EQ(isa_of_storage(isa, DType::kFloat16), Isa::kAvx512);
  }
  EXPECT_EQ(isa_of_storage(Isa::kPortable, DType::kBFloat16), Isa::kPortable);
}

TEST(AttentionParts, WrongShapesAreNamed) {
  const Problem p{{4, 2, 8}, Mask::causal(), {{{0, 4}, {0, 4}, {0, 4}, 0, 0}}, 4, 4};
  RandomStream random(1);
  const Data data(p, random);
  auto error_of = [&](const Problem& problem) -> std::string {
    Tensor out(p.q_rows, 4, 8), lse(p.q_rows, 4, 1);
    try {
      attention_forward(problem.tiles, problem.shape, problem.mask,
                        {data.q.view(), data.k.view(), data.v.view(), out.view(), lse.view()});
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(error_of(p), "");
  Problem heads = p;
  heads.shape.kv_heads = 3;
  EXPECT_NE(error_of(heads).find("kv_heads must divide heads"), std::string::npos);
  Problem rows = p;
  rows.tiles[0].q_row = 1;
  EXPECT_NE(error_of(rows).find("tile 0: rows [1, 5)"), std::string::npos) << error_of(rows);
  Problem keys = p;
  keys.tiles[0].kv_row = int64_t{1} << 62;
  EXPECT_NE(error_of(keys).find("key rows"), std::string::npos) << error_of(keys);
  Tensor gradients(p.q_rows, 4, 8), key_gradients(p.kv_rows, 2, 8);
  Tensor lse(p.q_rows, 4, 1), delta(p.q_rows, 2, 1);
  BackwardTensors back{data.q.view(),
                       data.k.view(),
                       data.v.view(),
                       {},
                       lse.view(),
                       data.dout.view(),
                       gradients.view(),
                       {},
                       {}};
  back.dk = back.dv = key_gradients.view();
  back.delta = delta.view();
  try {
    attention_backward(p.tiles, p.shape, p.mask, back);
    ADD_FAILURE() << "a delta of two heads was accepted for four";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("delta is [4, 2, 1] but must be [4, 4, 1]"), std::string::npos)
        << error.what();
  }
  const std::vector<int64_t> falling{0, 4, 2};
  EXPECT_THROW(tiles_of_documents(falling, 1), Error);
}

TEST(AttentionParts, FlopsCountUnmaskedPairs) {
  const std::vector<int64_t> offsets{0, 4, 4, 7};
  const auto tiles = tiles_of_documents(offsets, 2);
  ASSERT_EQ(tiles.size(), 2u);
  EXPECT_DOUBLE_EQ(attention_flops(tiles, {2, 1, 64}, Mask::causal(), false), 2 * (10 + 6) * 4.0 * 64);
  EXPECT_DOUBLE_EQ(attention_flops(tiles, {2, 1, 64}, Mask::full(), true), 2 * (16 + 9) * 10.0 * 64);
}

}  // namespace
}  // namespace counterpoise
