// SPDX-License-Identifier: Apache-2.0
// The bfloat16 tile kernels against the oracle, on AMX where there is one and on emulated tiles everywhere.
#include "attention_half_cases.h"
#include "tile_variants.h"

namespace counterpoise {
namespace {

using namespace testing_attention;

constexpr uint64_t kSeed = 61;
constexpr float kInfinity = std::numeric_limits<float>::infinity();

class AttentionTiles : public TileVariantTest {
 protected:
  void check(Problem p) {
    p.dtype = DType::kBFloat16;
    check(p, Data(p, random_));
  }
  void check(const Problem& p, const Data& data, int roundings = 1) {
    SCOPED_TRACE(::testing::Message() << "seed " << kSeed << " " << describe(p));
    expect_half_matches(p, data, with_tiles(*kernels_), kTileExp2Error, roundings);
  }
  RandomStream random_{kSeed};
};

// Lengths around every tile, pair of tiles, panel and block edge.
TEST_P(AttentionTiles, DocumentLengths) {
  for (const int64_t n : {1, 2, 15, 16, 17, 31, 32, 33, 63, 64, 65, 95, 127, 128, 129, 255, 256, 257, 289}) {
    check(document_problem(n, {1, 1, 64}, Mask::causal()));
    check(document_problem(n, {1, 1, 32}, Mask::full()));
    if (HasFailure()) return;
  }
}

TEST_P(AttentionTiles, HeadDims) {
  for (const int64_t d : {1, 3, 31, 32, 33, 40, 64, 80, 96, 100, 128, 160, 192, 256}) {
    check(document_problem(70, {1, 1, d}, Mask::causal()));
    check(document_problem(50, {1, 1, d, 64}, Mask::full()));
    check(document_problem(40, {1, 1, 64, d}, Mask::causal()));
    if (HasFailure()) return;
  }
}

TEST_P(AttentionTiles, GroupedHeads) {
  for (const auto& [heads, kv_heads] : {std::pair{4, 4}, {4, 2}, {4, 1}, {3, 1}}) {
    check(document_problem(70, {heads, kv_heads, 32}, Mask::causal()));
    if (HasFailure()) return;
  }
}

TEST_P(AttentionTiles, Masks) {
  for (const Mask mask :
       {Mask::full(), Mask::causal(), Mask::sliding_window(1), Mask::sliding_window(30),
        Mask::sliding_window(31), Mask::sliding_window(32), Mask{-1, 31}, Mask::sliding_window(200),
        Mask{3, 5}, Mask{-1, 40}, Mask{40, -1}, Mask{30, -1}, Mask{0, 0}}) {
    check(document_problem(300, {1, 1, 32}, mask));
    if (HasFailure()) return;
  }
}

TEST_P(AttentionTiles, PackedDocuments) {
  for (const Problem& p : packed_documents()) check(p);
}

TEST_P(AttentionTiles, ShardsOfADocument) {
  for (const Problem& p : shards_of_a_document()) check(p);
}

TEST_P(AttentionTiles, SeveralTilesPerRow) {
  check(several_tiles_per_row());
}

TEST_P(AttentionTiles, EmptyTilesAndRowsWithoutKeys) {
  check(empty_tiles_and_rows_without_keys());
}

// Their out may hold anything.
TEST_P(AttentionTiles, RowsWithoutKeysTakeNoPart) {
  Problem p{{1, 1, 32}, Mask::causal(), {{{10, 50}, {20, 60}, {0, 1}, 0, 0}}, 40, 40};
  p.dtype = DType::kBFloat16;
  const Data data(p, random_);
  ForwardResult forward = run_forward(p, data, with_tiles(*kernels_));
  const GradientResult clean = run_backward(p, data, forward, with_tiles(*kernels_));
  for (int64_t row = 0; row < 10; ++row) {
    ASSERT_EQ(forward.lse.get(row, 0, 0), -kInfinity);
    forward.out.set(row, 0, 0, std::nanf(""));
  }
  const GradientResult poisoned = run_backward(p, data, forward, with_tiles(*kernels_));
  ASSERT_EQ(clean.dq.bytes(), poisoned.dq.bytes());
  ASSERT_EQ(clean.dk.bytes(), poisoned.dk.bytes());
  ASSERT_EQ(clean.dv.bytes(), poisoned.dv.bytes());
}

TEST_P(AttentionTiles, StridesAndAlignment) {
  for (const Layout layout : {Layout{1, 0, 1}, Layout{0, 5, 3}, Layout{7, 2, 0}}) {
    Problem p = document_problem(77, {2, 1, 40, 24}, Mask::causal());
    p.layout = layout;
    check(p);
    if (HasFailure()) return;
  }
}

TEST_P(AttentionTiles, ExtremeLogits) {
  for (const double scale : {6.0, 100.0, 1000.0, 1e4}) {
    Problem p = document_problem(200, {2, 1, 64}, Mask::causal());
    p.logit_scale = scale;
    check(p);
    p.mask = Mask::full();
    check(p);
    if (HasFailure()) return;
  }
}

TEST_P(AttentionTiles, ConcentratedRows) {
  for (const int64_t dominant : {0, 1, 15, 16, 31, 32, 100, 255, 256, 259}) {
    SCOPED_TRACE(::testing::Message() << "dominant key " << dominant);
    Problem p = document_problem(260, {1, 1, 32}, Mask::full());
    p.dtype = DType::kBFloat16;
    Data data(p, random_);
    for (int64_t i = 0; i < 32; ++i) data.k.set(dominant, 0, i, 0);
    data.k.set(dominant, 0, 0, 200);
    for (int64_t row = 0; row < p.q_rows; ++row) data.q.set(row, 0, 0, 3 + static_cast<float>(row % 5));
    check(p, data);
    if (HasFailure()) return;
  }
}

// The logits of one query jump by more than kReferenceSlack at one key: at every tile of the block, in the
// first and the second block, in lanes of either tile, and again at a second key.
TEST_P(AttentionTiles, ReferenceIsRaisedAtEveryTile) {
  constexpr int64_t kKeys = kKeysPerTileBlock + 70;
  for (int64_t key = 8; key < kKeys; key += 16) {
    for (const int64_t third : {0, 1}) {
      Problem p = document_problem(kKeys, {1, 1, 32}, Mask::full());
      p.q_rows = 40;
      p.tiles = {{{0, 40}, {0, kKeys}, {0, 1}, 0, 0}};
      p.dtype = DType::kBFloat16;
      p.shape.softmax_scale = 1;
      p.logit_scale = 0.05;
      Data data(p, random_);
      for (int64_t row = 0; row < 40; ++row) data.q.set(row, 0, 0, row % 3 == third ? 12.0f : 0.0f);
      for (int64_t row = 0; row < kKeys; ++row) data.k.set(row, 0, 0, 0);
      data.k.set(key, 0, 0, 1);  // e^12 > 2^8 times the weight of any key before
      if (key + 40 < kKeys) data.k.set(key + 40, 0, 0, 2);
      SCOPED_TRACE(::testing::Message() << "key " << key << " lanes " << third);
      check(p, data, 8);
      if (HasFailure()) return;
    }
  }
}

// A steep slope raises the reference in every chunk of every row, or never again after the first.
TEST_P(AttentionTiles, RisingAndFallingMaxima) {
  for (const float slope : {1.0f, -1.0f, 30.0f, -30.0f}) {
    Problem p = document_problem(300, {1, 1, 32}, Mask::full());
    p.dtype = DType::kBFloat16;
    p.shape.softmax_scale = 1;
    p.logit_scale = 1;
    Data data(p, random_);
    for (int64_t row = 0; row < 300; ++row) {
      data.k.set(row, 0, 0, slope * static_cast<float>(row));
      data.q.set(row, 0, 0, 1);
    }
    if (std::abs(slope) > 1) p.logit_scale = 9000;  // for the tolerance: float32 orders of summation
    check(p, data);
  }
}

// Logits far below zero everywhere: the first keys set the reference, however low.
TEST_P(AttentionTiles, LowLogits) {
  Problem p = document_problem(100, {1, 1, 32}, Mask::causal());
  p.dtype = DType::kBFloat16;
  Data data(p, random_);
  for (int64_t row = 0; row < 100; ++row) {
    data.q.set(row, 0, 0, 1000);
    data.k.set(row, 0, 0, -1000);
  }
  p.logit_scale = 1e4;
  check(p, data);
}

// What tile products cannot represent reaches exactly the rows that see it; other heads stay on the tiles.
TEST_P(AttentionTiles, NonFiniteInputsReachTheRowsThatSeeThem) {
  for (const float poison : {kInfinity, -kInfinity, std::nanf("")}) {
    for (const int64_t position : {0, 40, 199}) {
      for (int tensor = 0; tensor < 4; ++tensor) {
        SCOPED_TRACE(::testing::Message() << poison << " at " << position << " of tensor " << tensor);
        Problem p = document_problem(200, {2, 2, 16}, Mask::causal());
        p.dtype = DType::kBFloat16;
        Data data(p, random_);
        Tensor* tensors[] = {&data.q, &data.k, &data.v, &data.dout};
        tensors[tensor]->set(position, 1, 3, poison);
        expect_reach(p, data, with_tiles(*kernels_), 0.05);  // of order one
        if (HasFailure()) return;
      }
    }
  }
}

// Denormals would be flushed to zero by the tiles.
TEST_P(AttentionTiles, DenormalsAndTinyScales) {
  for (const float scale : {0x1p-126f, 0x1p-100f, 0x1p-60f, 0x1p-20f}) {
    Problem p = document_problem(100, {1, 1, 32}, Mask::causal());
    p.dtype = DType::kBFloat16;
    Data data(p, random_);
    for (Tensor* t : {&data.q, &data.k, &data.v, &data.dout}) t->each([&](float& x) { x *= scale; });
    SCOPED_TRACE(::testing::Message() << "scale " << scale);
    check(p, data);
  }
}

TEST_P(AttentionTiles, NegativeScale) {
  Problem p = document_problem(100, {2, 1, 32}, Mask::causal());
  p.shape.softmax_scale = -0.2;
  check(p);
}

// A partial is continued from what the rows hold.
TEST_P(AttentionTiles, Accumulates) {
  Problem p = document_problem(200, {2, 1, 48}, Mask::causal());
  p.dtype = DType::kBFloat16;
  const Data data(p, random_);
  const auto q = data.q.view(), k = data.k.view(), v = data.v.view();
  const auto oracle = reference_forward<double>(p.tiles, p.shape, p.mask, q, k, v);
  IdealErrors bound;
  bound.note(ideal(p, data, oracle).out, oracle.out);
  Tensor out(p.q_rows, 2, 48), lse(p.q_rows, 2, 1);
  lse.fill(-kInfinity);  // out holds NaN
  for (const Range keys : {Range{0, 70}, Range{70, 100}, Range{100, 200}}) {
    Problem part = p;
    part.tiles = {{{0, 200}, keys, {0, 2}, 0, keys.begin}};
    tile_forward(*kernels_, *backend_of(Isa::kPortable), resolved_problem(part, 1, true),
                 {q, k, v, out.view(), lse.view()});
  }
  expect_within_twice(out.values(), bound, oracle.out, 0, "out");
  expect_close(lse.values(), oracle.lse, 3 * (kTileExp2Error + 1e-6 * 8), "lse");
}

INSTANTIATE_TEST_SUITE_P(Variants, AttentionTiles, ::testing::ValuesIn(kTileVariants),
                         [](const auto& instance) { return std::string(instance.param.name); });

}  // namespace
}  // namespace counterpoise
