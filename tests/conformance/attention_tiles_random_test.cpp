// SPDX-License-Identifier: Apache-2.0
// Random problems on the bfloat16 tile kernels: the oracle, any number of threads bit for bit, memory that no
// tile covers, and AMX against its emulation.
#include "attention_half_cases.h"
#include "random_problem.h"
#include "tile_variants.h"

namespace counterpoise {
namespace {

using namespace testing_attention;

template <typename F>
void each_problem(uint64_t seed, int count, F check) {
  RandomStream random(seed);
  for (int i = 0; i < count; ++i) {
    Problem p = random_problem(random);
    p.dtype = DType::kBFloat16;
    SCOPED_TRACE(::testing::Message() << "seed " << seed << " problem " << i << " " << describe(p));
    check(p, Data(p, random));
    if (::testing::Test::HasFailure()) return;
  }
}

class AttentionTilesRandom : public TileVariantTest {};

TEST_P(AttentionTilesRandom, AgreesWithTheOracle) {
  each_problem(1, 100, [&](const Problem& p, const Data& data) {
    expect_half_matches(p, data, with_tiles(*kernels_), kTileExp2Error, 16);
  });
}

TEST_P(AttentionTilesRandom, ThreadsDoNotChangeABit) {
  each_problem(2, 40, [&](const Problem& p, const Data& data) {
    const ForwardResult one = run_forward(p, data, with_tiles(*kernels_, 1));
    const GradientResult one_back = run_backward(p, data, one, with_tiles(*kernels_, 1));
    for (const int threads : {2, 5}) {
      const ForwardResult many = run_forward(p, data, with_tiles(*kernels_, threads));
      expect_same_bytes(one.out, many.out, "out");
      expect_same_bytes(one.lse, many.lse, "lse");
      const GradientResult many_back = run_backward(p, data, one, with_tiles(*kernels_, threads));
      expect_same_bytes(one_back.dq, many_back.dq, "dq");
      expect_same_bytes(one_back.dk, many_back.dk, "dk");
      expect_same_bytes(one_back.dv, many_back.dv, "dv");
    }
  });
}

// Gradients are added to what is there, and what lies outside the tiles keeps its bits.
TEST_P(AttentionTilesRandom, GradientsAreAdded) {
  each_problem(4, 40, [&](const Problem& p, const Data& data) {
    const ForwardResult forward = run_forward(p, data, with_tiles(*kernels_));
    const GradientResult from_zero = run_backward(p, data, forward, with_tiles(*kernels_), 0);
    const GradientResult from_one = run_backward(p, data, forward, with_tiles(*kernels_), 1);
    expect_one_more(from_zero.dq, from_one.dq, "dq");
    expect_one_more(from_zero.dk, from_one.dk, "dk");
    expect_one_more(from_zero.dv, from_one.dv, "dv");
  });
}

// Rows that no tile holds, of heads that no tile holds, may hold anything.
TEST_P(AttentionTilesRandom, PoisonOutsideTheTilesLeavesNoTrace) {
  each_problem(5, 40, [&](const Problem& p, const Data& clean) {
    const int64_t group = p.shape.heads / p.shape.kv_heads;
    std::vector<bool> q_used(p.q_rows * p.shape.heads), kv_used(p.kv_rows);
    for (const AttentionTile& t : p.tiles) {
      for (int64_t row = t.q_row; row < t.q_row + t.q.size(); ++row)
        for (int64_t head = t.heads.begin; head < t.heads.end; ++head)
          q_used[row * p.shape.heads + head] = true;
      for (int64_t row = t.kv_row; row < t.kv_row + t.kv.size(); ++row) kv_used[row] = true;
    }
    Data poisoned = clean;
    for (int64_t head = 0; head < p.shape.heads; ++head) {
      for (int64_t row = 0; row < p.q_rows; ++row)
        if (!q_used[row * p.shape.heads + head])
          for (Tensor* t : {&poisoned.q, &poisoned.dout}) t->set(row, head, 0, std::nanf(""));
      for (int64_t row = 0; row < p.kv_rows; ++row)
        if (!kv_used[row])
          for (Tensor* t : {&poisoned.k, &poisoned.v}) t->set(row, head / group, 0, std::nanf(""));
    }
    const Runner runner = with_tiles(*kernels_, 2);
    const ForwardResult a = run_forward(p, clean, runner), b = run_forward(p, poisoned, runner);
    ASSERT_EQ(a.out.bytes(), b.out.bytes());
    ASSERT_EQ(a.lse.bytes(), b.lse.bytes());
    const GradientResult c = run_backward(p, clean, a, runner), d = run_backward(p, poisoned, a, runner);
    ASSERT_EQ(c.dq.bytes(), d.dq.bytes());
    ASSERT_EQ(c.dk.bytes(), d.dk.bytes());
    ASSERT_EQ(c.dv.bytes(), d.dv.bytes());
  });
}

INSTANTIATE_TEST_SUITE_P(Variants, AttentionTilesRandom, ::testing::ValuesIn(kTileVariants),
                         [](const auto& instance) { return std::string(instance.param.name); });

// The emulation is the instruction, bit for bit.
void expect_bits_of_emulation(std::string_view real_name, std::string_view emulated_name) {
  const TileKernels* kernels = tile_kernels_of(real_name);
  if (!kernels) GTEST_SKIP() << cpu_name() << " cannot run " << real_name;
  const Runner emulated = with_tiles(*tile_kernels_of(emulated_name)), real = with_tiles(*kernels);
  each_problem(6, 40, [&](const Problem& p, const Data& data) {
    const ForwardResult a = run_forward(p, data, emulated), b = run_forward(p, data, real);
    ASSERT_EQ(a.out.bytes(), b.out.bytes());
    ASSERT_EQ(a.lse.bytes(), b.lse.bytes());
    const GradientResult c = run_backward(p, data, a, emulated), d = run_backward(p, data, a, real);
    ASSERT_EQ(c.dq.bytes(), d.dq.bytes());
    ASSERT_EQ(c.dk.bytes(), d.dk.bytes());
    ASSERT_EQ(c.dv.bytes(), d.dv.bytes());
  });
}

TEST(AttentionTilesAmx, GivesTheBitsOfItsEmulation) {
  expect_bits_of_emulation("amx", "emulated_avx512");
}

TEST(AttentionTilesAvx512Bf16, GivesTheBitsOfItsEmulation) {
  expect_bits_of_emulation("avx512_bf16", "emulated_dot_avx512");
}

#if defined(__x86_64__)
// Which state components of this thread are in use, of XTILECFG and XTILEDATA (XGETBV with ECX = 1).
uint32_t tile_state_in_use() {
  uint32_t low, high;
  asm volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(1));
  return low & 3u << 17;
}

// What is in use is saved whenever threads switch.
TEST(AttentionTilesAmx, LeavesNoTileInUse) {
  const TileKernels* amx = tile_kernels_of("amx");
  if (!amx) GTEST_SKIP() << cpu_name() << " cannot run amx";
  each_problem(7, 3, [&](const Problem& p, const Data& data) {
    const ForwardResult forward = run_forward(p, data, with_tiles(*amx));
    EXPECT_EQ(tile_state_in_use(), 0);
    run_backward(p, data, forward, with_tiles(*amx));
    EXPECT_EQ(tile_state_in_use(), 0);
  });
  amx->configure();
  EXPECT_NE(tile_state_in_use(), 0);
  amx->release();
}
#endif

}  // namespace
}  // namespace counterpoise
