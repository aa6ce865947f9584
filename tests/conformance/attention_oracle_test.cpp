// SPDX-License-Identifier: Apache-2.0
// Every instruction set this CPU runs, forward and backward, against the fp64 oracle.
#include "attention_cases.h"

namespace counterpoise {
namespace {

using namespace testing_attention;

constexpr uint64_t kSeed = 20;

class AttentionOracle : public ::testing::TestWithParam<Isa> {
 protected:
  void SetUp() override {
    const std::vector<Isa> available = available_isas();
    if (std::find(available.begin(), available.end(), GetParam()) == available.end())
      GTEST_SKIP() << cpu_name() << " cannot run " << isa_name(GetParam());
  }
  void check(const Problem& p) {
    SCOPED_TRACE(describe(p));
    const Data data(p, random_);
    expect_forward_matches(p, data, with_isa(GetParam()));
    expect_backward_matches(p, data, with_isa(GetParam()));
  }
  RandomStream random_{kSeed};
};

// Lengths around every vector width, panel and block edge.
TEST_P(AttentionOracle, DocumentLengths) {
  for (const int64_t n : {1,  2,  3,  4,  5,  7,  8,  11,  12,  15,  16,  17,  23, 24,
                          25, 47, 48, 49, 95, 96, 97, 127, 128, 129, 191, 193, 257}) {
    check(document_problem(n, {1, 1, 64}, Mask::causal()));
    check(document_problem(n, {1, 1, 32}, Mask::full()));
    if (HasFatalFailure()) return;
  }
}

TEST_P(AttentionOracle, HeadDims) {
  for (const int64_t d : {1, 3, 32, 33, 40, 64, 72, 80, 96, 100, 128, 160, 192, 256}) {
    check(document_problem(61, {1, 1, d}, Mask::causal()));
    check(document_problem(50, {1, 1, d, 64}, Mask::full()));
    check(document_problem(30, {1, 1, 64, d}, Mask::causal()));
    if (HasFatalFailure()) return;
  }
}

TEST_P(AttentionOracle, GroupedHeads) {
  for (const auto& [heads, kv_heads] : {std::pair{4, 4}, {4, 2}, {4, 1}, {6, 2}, {3, 1}}) {
    check(document_problem(70, {heads, kv_heads, 16}, Mask::causal()));
    if (HasFatalFailure()) return;
  }
}

TEST_P(AttentionOracle, Masks) {
  for (const Mask mask : {Mask::full(), Mask::causal(), Mask::sliding_window(1), Mask::sliding_window(30),
                          Mask::sliding_window(200), Mask{3, 5}, Mask{-1, 40}, Mask{40, -1}, Mask{0, 0}}) {
    check(document_problem(150, {1, 1, 16}, mask));
    if (HasFatalFailure()) return;
  }
}

TEST_P(AttentionOracle, PackedDocuments) {
  const std::vector<int64_t> offsets{0, 1, 2, 33, 33, 133, 140, 300};
  Problem p = document_problem(300, {2, 1, 32}, Mask::causal());
  p.tiles = tiles_of_documents(offsets, 2);
  check(p);
  p.mask = Mask::full();
  check(p);
}

// A shard: rows in the middle of a document against all keys before them, stored anywhere.
TEST_P(AttentionOracle, ShardsOfADocument) {
  for (const int64_t base : {int64_t{0}, int64_t{1} << 33}) {
    Problem p{{2, 2, 32}, Mask::causal(), {}, 60, 260};
    p.tiles = {{{base + 100, base + 130}, {base, base + 200}, {0, 2}, 10, 40},
               {{base + 13, base + 20}, {base, base + 30}, {0, 2}, 0, 0},
               {{base + 170, base + 180}, {base, base + 180}, {0, 1}, 45, 40}};
    check(p);
    p.mask = Mask::sliding_window(25);
    check(p);
  }
}

// Tiles that share their q rows: keys add up as if they were one tile. Some lie wholly under the mask.
TEST_P(AttentionOracle, SeveralTilesPerRow) {
  Problem p{{2, 1, 32}, Mask::causal(), {}, 100, 150};
  p.tiles = {{{50, 150}, {0, 40}, {0, 2}, 0, 0},
             {{50, 150}, {60, 150}, {0, 2}, 0, 60},
             {{80, 120}, {40, 60}, {0, 2}, 30, 40},
             {{60, 90}, {140, 150}, {1, 2}, 10, 140}};
  check(p);
}

TEST_P(AttentionOracle, EmptyTilesAndRowsWithoutKeys) {
  Problem p{{1, 1, 32}, Mask::causal(), {}, 40, 40};
  p.tiles = {{{0, 0}, {0, 10}, {0, 1}, 0, 0},
             {{5, 9}, {0, 0}, {0, 1}, 3, 0},
             {{10, 30}, {20, 40}, {0, 1}, 10, 0},  // positions 10..19 see no key
             {{3, 6}, {0, 6}, {0, 0}, 35, 0}};
  check(p);
}

// Backward of callers that hold only delta.
TEST_P(AttentionOracle, DeltaInsteadOfOut) {
  for (const int64_t n : {1, 23, 49, 150}) {
    for (const HeadShape shape : {HeadShape{1, 1, 64}, HeadShape{4, 2, 37, 20}}) {
      const Problem p = document_problem(n, shape, Mask::causal());
      SCOPED_TRACE(describe(p));
      const Data data(p, random_);
      expect_backward_matches(p, data, with_isa(GetParam()), true);
      if (HasFatalFailure()) return;
    }
  }
}

TEST_P(AttentionOracle, StridesAndAlignment) {
  for (const Layout layout : {Layout{1, 0, 1}, Layout{0, 5, 3}, Layout{7, 2, 0}}) {
    Problem p = document_problem(77, {2, 1, 40, 24}, Mask::causal());
    p.layout = layout;
    check(p);
    if (HasFatalFailure()) return;
  }
}

TEST_P(AttentionOracle, ExtremeLogits) {
  for (const double scale : {100.0, 1000.0, 1e4}) {
    Problem p = document_problem(200, {2, 1, 64}, Mask::causal());  // many rows: near ties are rare
    p.logit_scale = scale;
    check(p);
    p.mask = Mask::full();
    check(p);
    if (HasFatalFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(Isas, AttentionOracle, ::testing::Values(Isa::kPortable, Isa::kAvx2, Isa::kAvx512),
                         [](const auto& instance) { return std::string(isa_name(instance.param)); });

}  // namespace
}  // namespace counterpoise
