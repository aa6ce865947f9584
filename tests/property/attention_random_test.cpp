// SPDX-License-Identifier: Apache-2.0
// Random problems on every instruction set: the oracle, any number of threads bit for bit, partials that
// merge to the whole, and memory that no tile covers left alone.
#include "random_problem.h"

namespace counterpoise {
namespace {

using namespace testing_attention;

class AttentionRandom : public ::testing::Test {
 protected:
  template <typename F>
  void each_problem(uint64_t seed, int count, F check) {
    for (const Isa isa : available_isas()) {
      RandomStream random(seed);
      for (int i = 0; i < count; ++i) {
        const Problem p = random_problem(random);
        SCOPED_TRACE(::testing::Message()
                     << "seed " << seed << " problem " << i << " " << isa_name(isa) << " " << describe(p));
        const Data data(p, random);
        check(p, data, isa);
        if (HasFatalFailure()) return;
      }
    }
  }
};

TEST_F(AttentionRandom, AgreesWithTheOracle) {
  each_problem(1, 150, [](const Problem& p, const Data& data, Isa isa) {
    expect_forward_matches(p, data, with_isa(isa));
    expect_backward_matches(p, data, with_isa(isa));
  });
}

TEST_F(AttentionRandom, ThreadsDoNotChangeABit) {
  each_problem(2, 60, [](const Problem& p, const Data& data, Isa isa) {
    const ForwardResult one = run_forward(p, data, with_isa(isa, 1));
    const GradientResult one_back = run_backward(p, data, one, with_isa(isa, 1));
    for (const int threads : {2, 3, 7}) {
      const ForwardResult many = run_forward(p, data, with_isa(isa, threads));
      expect_same_bytes(one.out, many.out, "out");
      expect_same_bytes(one.lse, many.lse, "lse");
      const GradientResult many_back = run_backward(p, data, one, with_isa(isa, threads));
      expect_same_bytes(one_back.dq, many_back.dq, "dq");
      expect_same_bytes(one_back.dk, many_back.dk, "dk");
      expect_same_bytes(one_back.dv, many_back.dv, "dv");
    }
  });
}

// One call per tile, accumulated, and one call per tile merged by hand, against one call for all.
TEST_F(AttentionRandom, PartialsMergeToTheWhole) {
  each_problem(3, 60, [](const Problem& p, const Data& data, Isa isa) {
    const auto oracle =
        reference_forward<double>(p.tiles, p.shape, p.mask, data.q.view(), data.k.view(), data.v.view());
    const auto plain =
        reference_forward<float>(p.tiles, p.shape, p.mask, data.q.view(), data.k.view(), data.v.view());
    Tolerance tolerance, lse_tolerance;
    tolerance.note(oracle.out, plain.out);
    lse_tolerance.note(oracle.lse, plain.lse);
    // Every merge rounds out and lse once more, relative to the magnitude of the values.
    const double merges = static_cast<double>(p.tiles.size()) * 4 * 0x1p-23;
    auto identity = [&] {
      ForwardResult r{Tensor(p.q_rows, p.shape.heads, p.shape.value_dim()),
                      Tensor(p.q_rows, p.shape.heads, 1)};
      r.out.fill(0);
      r.lse.fill(-std::numeric_limits<float>::infinity());
      return r;
    };
    ForwardResult accumulated = identity(), merged = identity();
    for (const AttentionTile& tile : p.tiles) {
      AttentionOptions options{isa, 1, false};
      ForwardResult part = identity();
      attention_forward({&tile, 1}, p.shape, p.mask,
                        {data.q.view(), data.k.view(), data.v.view(), part.out.view(), part.lse.view()},
                        options);
      merge_partials(merged.out.view(), merged.lse.view(), part.out.view(), part.lse.view());
      options.accumulate = true;
      attention_forward(
          {&tile, 1}, p.shape, p.mask,
          {data.q.view(), data.k.view(), data.v.view(), accumulated.out.view(), accumulated.lse.view()},
          options);
    }
    for (const ForwardResult* r : {&accumulated, &merged}) {
      expect_close(r->out.values(), oracle.out, tolerance.allowed() + merges * tolerance.largest, "out");
      expect_close(r->lse.values(), oracle.lse, lse_tolerance.allowed() + merges * lse_tolerance.largest,
                   "lse");
    }
  });
}

// Gradients are added to what is there, and every float outside the tiles keeps its bits.
TEST_F(AttentionRandom, GradientsAreAdded) {
  each_problem(4, 60, [](const Problem& p, const Data& data, Isa isa) {
    const ForwardResult forward = run_forward(p, data, with_isa(isa));
    const GradientResult from_zero = run_backward(p, data, forward, with_isa(isa), 0);
    const GradientResult from_one = run_backward(p, data, forward, with_isa(isa), 1);
    expect_one_more(from_zero.dq, from_one.dq, "dq");
    expect_one_more(from_zero.dk, from_one.dk, "dk");
    expect_one_more(from_zero.dv, from_one.dv, "dv");
  });
}

}  // namespace
}  // namespace counterpoise
