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
  for (const Problem& p : packed_documents()) check(p);
}

TEST_P(AttentionOracle, ShardsOfADocument) {
  for (const Problem& p : shards_of_a_document()) check(p);
}

TEST_P(AttentionOracle, SeveralTilesPerRow) {
  check(several_tiles_per_row());
}

TEST_P(AttentionOracle, EmptyTilesAndRowsWithoutKeys) {
  check(empty_tiles_and_rows_without_keys());
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
