// SPDX-License-Identifier: Apache-2.0
// The pieces of the bfloat16 kernels: the emulated instruction checked by hand, operand layouts, the
// exponential.
#pragma GCC diagnostic ignored "-Wpsabi"  // wide vectors are only passed between inlined functions
#include "kernels/tiles/lane_math.h"
#include "tile_variants.h"
#include "tiles_emulated.h"
#include "vec_bfloat16_portable.h"

namespace counterpoise {
namespace {

using namespace testing_attention;

using Machine = TilesEmulated<VecBfloat16Portable, Multiplier::kTdpbf16ps>;

uint32_t word(float low, float high) {
  return float_to_bfloat16(low) | uint32_t{float_to_bfloat16(high)} << 16;
}

// c[1][2] += a[1] * b[..][2], everything else zero.
float product(const std::vector<std::pair<float, float>>& a, const std::vector<std::pair<float, float>>& b,
              float c, void (*multiply)(Machine::Tile&, const Machine::Tile&, const Machine::Tile&)) {
  Machine::Tile tiles[3] = {};
  for (size_t k = 0; k < a.size(); ++k) {
    tiles[1].word[1][k] = word(a[k].first, a[k].second);
    tiles[2].word[k][2] = word(b[k].first, b[k].second);
  }
  tiles[0].word[1][2] = bits_of_float(c);
  multiply(tiles[0], tiles[1], tiles[2]);
  for (int m = 0; m < 16; ++m)
    for (int n = 0; n < 16; ++n) EXPECT_TRUE((m == 1 && n == 2) || tiles[0].word[m][n] == 0);
  return float_from_bits(tiles[0].word[1][2]);
}

TEST(TileMachine, EmulationsFollowTheManual) {
  using Pairs = std::vector<std::pair<float, float>>;
  for (const auto multiply : {&Machine::tdpbf16ps, &Machine::vdpbf16ps}) {
    const auto sum = [&](const Pairs& a, const Pairs& b, float c) { return product(a, b, c, multiply); };
    EXPECT_EQ(sum({{2, 3}, {5, 7}}, {{10, 100}, {11, 13}}, 1), 1 + 20 + 300 + 55 + 91);
    // Ties go to even.
    EXPECT_EQ(sum({{0x1p24f, 0}, {1, 0}}, {{1, 0}, {1, 0}}, 0), 0x1p24f);
    EXPECT_EQ(sum({{0x1p24f, 0}, {3, 0}}, {{1, 0}, {1, 0}}, 0), 0x1p24f + 4);
    // Denormals vanish: operands, products that are too small, the accumulator.
    EXPECT_EQ(sum({{0x1p-127f, 0}}, {{0x1p100f, 0}}, 0), 0);
    EXPECT_EQ(sum({{0x1p-70f, 0}}, {{0x1p-60f, 0}}, 0), 0);
    EXPECT_EQ(sum({{0x1p-70f, 0}}, {{0x1p-56f, 0}}, 0), 0x1p-126f);
    EXPECT_EQ(sum({{1, 0}}, {{0x1p-126f, 0}}, 0x1p-127f), 0x1p-126f);
  }
  // Tiles sum even and odd products apart: the odd ones survive beside a large even one until the end.
  const Pairs ones = {{1, 1}, {1, 1}, {1, 1}}, large = {{0x1p24f, 1}, {1, 1}, {-0x1p24f, 1}};
  EXPECT_EQ(product(large, ones, 0, &Machine::tdpbf16ps), 3);
  // Vectors add the odd product of each word to the sum, then the even one: 2^24 swallows two ones.
  EXPECT_EQ(product(large, ones, 0, &Machine::vdpbf16ps), 0);
  EXPECT_EQ(product({{-0x1p24f, 1}}, {{1, 1}}, 0x1p24f, &Machine::vdpbf16ps), 0);
  EXPECT_EQ(product({{1, -0x1p24f}}, {{1, 1}}, 0x1p24f, &Machine::vdpbf16ps), 1);
}

class TilePieces : public TileVariantTest {};

// Every layout against its definition; columns and rows that do not exist are zero.
TEST_P(TilePieces, OperandLayouts) {
  for (const int rows : {1, 15, 31, 32}) {
    for (const int dim : {1, 31, 32, 33, 80}) {
      const int stride = dim + 3, pairs = (dim + 31) / 32, step = kPairWords + 7;
      std::vector<uint16_t> x(static_cast<size_t>(rows * stride), 0xffff);
      for (int r = 0; r < rows; ++r)
        for (int c = 0; c < dim; ++c) x[r * stride + c] = static_cast<uint16_t>(1 + r * 256 + c);
      auto at = [&](int r, int c) -> uint32_t { return r < rows && c < dim ? x[r * stride + c] : 0; };
      struct Layout {
        TileKernels::Pack* pack;
        std::function<uint32_t(int column, int tile, int m, int n)> word;
      };
      const Layout layouts[] = {{kernels_->pack_left,
                                 [&](int c, int t, int m, int n) {
                                   return at(16 * t + m, c + 2 * n) | at(16 * t + m, c + 2 * n + 1) << 16;
                                 }},
                                {kernels_->pack_right,
                                 [&](int c, int t, int m, int n) {
                                   return at(16 * t + n, c + 2 * m) | at(16 * t + n, c + 2 * m + 1) << 16;
                                 }},
                                {kernels_->pack_right_row_pairs,
                                 [&](int c, int t, int m, int n) {
                                   return at(m, c + 16 * t + n) | at(m + 16, c + 16 * t + n) << 16;
                                 }},
                                {kernels_->pack_left_row_pairs, [&](int c, int t, int m, int n) {
                                   return at(n, c + 16 * t + m) | at(n + 16, c + 16 * t + m) << 16;
                                 }}};
      for (const Layout& layout : layouts) {
        std::vector<uint32_t> to(static_cast<size_t>(pairs * step), 0xdeadbeef);
        layout.pack(x.data(), stride, rows, dim, to.data(), step);
        for (int pair = 0; pair < pairs; ++pair) {
          for (int i = 0; i < kPairWords; ++i)
            ASSERT_EQ(to[pair * step + i], layout.word(pair * 32, i / 256, i / 16 % 16, i % 16))
                << rows << " rows, dim " << dim << ", layout " << &layout - layouts << ", word " << i;
          for (int i = kPairWords; i < step; ++i) ASSERT_EQ(to[pair * step + i], 0xdeadbeef);
        }
      }
    }
  }
}

TEST_P(TilePieces, MagnitudeSeesEveryElementAndNoOther) {
  for (const int dim : {1, 31, 40, 64}) {
    const int rows = 5, stride = dim + 2;
    for (int place = 0; place < rows * dim; ++place) {
      std::vector<uint16_t> x(static_cast<size_t>(rows * stride), 0xffff);
      for (int i = 0; i < rows * dim; ++i)
        x[i / dim * stride + i % dim] = static_cast<uint16_t>(i & 1 ? 0x8001 : 2);
      x[place / dim * stride + place % dim] = 0xff80;
      ASSERT_EQ(kernels_->magnitude(x.data(), stride, rows, dim), 0x7f80);
    }
  }
}

TEST_P(TilePieces, LanesToRowsAndDots) {
  RandomStream random(7);
  for (const int pairs : {1, 3}) {
    const int columns = 32 * pairs;
    std::vector<float> lanes(static_cast<size_t>(columns * 32)), factor(32), rows(lanes.size());
    for (float& x : lanes) x = static_cast<float>(random.normal());
    for (float& x : factor) x = static_cast<float>(random.normal());
    kernels_->rows_from_lanes(lanes.data(), factor.data(), pairs, rows.data());
    for (int r = 0; r < 32; ++r)
      for (int c = 0; c < columns; ++c) ASSERT_EQ(rows[r * columns + c], lanes[c * 32 + r] * factor[r]);

    std::vector<uint16_t> dout(rows.size());
    for (uint16_t& x : dout) x = float_to_bfloat16(static_cast<float>(random.normal()));
    std::vector<uint32_t> packed(static_cast<size_t>(pairs * kPairWords));
    kernels_->pack_right(dout.data(), columns, 32, columns, packed.data(), kPairWords);
    float dots[32];
    kernels_->row_dots(packed.data(), rows.data(), pairs, dots);
    for (int r = 0; r < 32; ++r) {
      double sum = 0, magnitude = 0;
      for (int c = 0; c < columns; ++c) {
        const double term = double{bfloat16_to_float(dout[r * columns + c])} * rows[r * columns + c];
        sum += term;
        magnitude += std::abs(term);
      }
      ASSERT_NEAR(dots[r], sum, magnitude * columns * 0x1p-24);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Variants, TilePieces, ::testing::ValuesIn(kTileVariants),
                         [](const auto& instance) { return std::string(instance.param.name); });

TEST(TileMachine, Exponential) {
  using V = VecBfloat16Portable;
  auto exp2_of = [](float x) { return exp2<V>(V::set(x))[0]; };
  EXPECT_EQ(exp2_of(0), 1);
  EXPECT_EQ(exp2_of(8), 256);
  EXPECT_EQ(exp2_of(-std::numeric_limits<float>::infinity()), 0);
  EXPECT_EQ(exp2_of(kNoReference), 0);
  for (float x = -125; x < 9; x += 0.0137f)
    ASSERT_NEAR(exp2_of(x) / std::exp2(double{x}), 1, kTileExp2Error) << x;
}

}  // namespace
}  // namespace counterpoise
