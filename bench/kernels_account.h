// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <chrono>
#include <cstring>
#include <type_traits>
#include <vector>

#include "kernels/simd/backward_driver.h"
#include "kernels/simd/forward_driver.h"

// Where the time of one call goes: the blocked drivers run with tables of kernels that time themselves.
namespace counterpoise {
extern const ForwardKernels kForwardPortable;
extern const BackwardKernels kBackwardPortable;
#if defined(__x86_64__)
extern const ForwardKernels kForwardAvx2, kForwardAvx512;
extern const BackwardKernels kBackwardAvx2, kBackwardAvx512;
#endif
}  // namespace counterpoise

namespace counterpoise::bench {

struct AccountPart {
  const char* name;
  double seconds;
  double flops;  // of unmasked pairs
};

// Not for more than one thread, nor for two calls at once: kernels are plain functions, so the account they
// write to is global.
class Account {
 public:
  static std::vector<AccountPart> of_forward(Isa isa, const AttentionProblem& problem,
                                             const ForwardTensors& tensors) {
    forward_ = forward_table(isa);
    begin(problem);
    ForwardKernels timed = *forward_;
    timed.scores = [](const ScoreArgs& a) {
      cut_ = cuts(a.begin, a.end, a.low, a.high, a.rows, forward_->width);
      pairs_ = pairs_of(a.begin, a.end, a.low, a.high, a.rows);
      time(cut_ ? "q k^T and maximum, cut blocks" : "q k^T and maximum", pairs_ * 2.0 * a.dim,
           [&] { forward_->scores(a); });
    };
    timed.weights = [](const ScoreArgs& a) {
      time(cut_ ? "exponentials, cut blocks" : "exponentials", 0, [&] { forward_->weights(a); });
    };
    timed.values = [](const ValueArgs& a) {
      time(cut_ ? "p v and rescaling, cut blocks" : "p v and rescaling", pairs_ * 2.0 * value_dim_,
           [&] { forward_->values(a); });
    };
    timed.pack_values = [](const float* from, int64_t stride, int keys, int dim, float* to) {
      time("packing v", 0, [&] { forward_->pack_values(from, stride, keys, dim, to); });
    };
    timed.all_finite = [](const float* from, int64_t stride, int rows, int dim) {
      return time("looking for infinities", 0, [&] { return forward_->all_finite(from, stride, rows, dim); });
    };
    timed.transpose = [](const float* from, int64_t from_stride, int rows, int columns, float scale,
                         float* to, int64_t to_stride) {
      time("transposing q and out", 0,
           [&] { forward_->transpose(from, from_stride, rows, columns, scale, to, to_stride); });
    };
    timed.scale_lanes = [](float* out, int rows, const float* factor) {
      time("dividing by the sum", 0, [&] { forward_->scale_lanes(out, rows, factor); });
    };
    return finish([&] { blocked_forward(timed, problem, tensors); });
  }

  static std::vector<AccountPart> of_backward(Isa isa, const AttentionProblem& problem,
                                              const BackwardTensors& tensors) {
    backward_ = backward_table(isa);
    begin(problem);
    BackwardKernels timed = *backward_;
    timed.gradients = [](const GradientArgs& a) {
      const bool cut = cuts(a.begin, a.end, a.low, a.high, a.rows, backward_->width);
      time(cut ? "q k^T, dout v^T, p and ds, cut blocks" : "q k^T, dout v^T, p and ds",
           pairs_of(a.begin, a.end, a.low, a.high, a.rows) * 2.0 * (a.dim + a.value_dim),
           [&] { backward_->gradients(a); });
    };
    timed.key_gradients = [](const KeyGradientArgs& a) {
      double pairs = 0;
      bool cut = false;
      for (int i = 0; i < a.panel_count; ++i) {
        const KeyGradientArgs::Panel& p = a.panels[i];
        pairs += pairs_of(p.begin, p.end, p.low, p.high, p.rows);
        cut |= cuts(p.begin, p.end, p.low, p.high, p.rows, backward_->width);
      }
      time(cut ? "dk and dv, cut blocks" : "dk and dv", pairs * 2 * a.columns,
           [&] { backward_->key_gradients(a); });
    };
    timed.query_gradients = [](const QueryGradientArgs& a) {
      const bool cut = cuts(a.begin, a.end, a.low, a.high, a.rows, backward_->width);
      time(cut ? "dq, cut blocks" : "dq", pairs_of(a.begin, a.end, a.low, a.high, a.rows) * 2.0 * a.columns,
           [&] { backward_->query_gradients(a); });
    };
    timed.pack_strips = [](const float* from, int64_t stride, int rows, int room, int dim, float scale,
                           float* to) {
      time("packing q, dout and k", 0,
           [&] { backward_->pack_strips(from, stride, rows, room, dim, scale, to); });
    };
    timed.all_finite = [](const float* from, int64_t stride, int rows, int dim) {
      return time("looking for infinities", 0,
                  [&] { return backward_->all_finite(from, stride, rows, dim); });
    };
    timed.lane_dots = [](const float* a, const float* b, int dim, float* out) {
      time("delta", 0, [&] { backward_->lane_dots(a, b, dim, out); });
    };
    timed.transpose = [](const float* from, int64_t from_stride, int rows, int columns, float scale,
                         float* to, int64_t to_stride) {
      time("transposing q, dout and out", 0,
           [&] { backward_->transpose(from, from_stride, rows, columns, scale, to, to_stride); });
    };
    timed.add_rows = [](const float* from, int64_t from_stride, int rows, int columns, float* to,
                        int64_t to_stride) {
      time("storing dk and dv", 0,
           [&] { backward_->add_rows(from, from_stride, rows, columns, to, to_stride); });
    };
    return finish([&] { blocked_backward(timed, problem, tensors); });
  }

 private:
  using Clock = std::chrono::steady_clock;

  static const ForwardKernels* forward_table(Isa isa) {
#if defined(__x86_64__)
    if (isa == Isa::kAvx512) return &kForwardAvx512;
    if (isa == Isa::kAvx2) return &kForwardAvx2;
#endif
    return &kForwardPortable;
  }
  static const BackwardKernels* backward_table(Isa isa) {
#if defined(__x86_64__)
    if (isa == Isa::kAvx512) return &kBackwardAvx512;
    if (isa == Isa::kAvx2) return &kBackwardAvx2;
#endif
    return &kBackwardPortable;
  }

  // A block is cut when some of its pairs are masked or its panel is not full.
  static bool cuts(int begin, int end, int low, int high, int rows, int width) {
    return rows < width || end - 1 > high || begin < low + rows - 1;
  }
  static double pairs_of(int begin, int end, int low, int high, int rows) {
    double pairs = 0;
    for (int lane = 0; lane < rows; ++lane)
      pairs += std::max(0, std::min(end, high + lane + 1) - std::max(begin, low + lane));
    return pairs;
  }

  template <class Work>
  static std::invoke_result_t<Work> time(const char* name, double flops, Work work) {
    struct Stop {
      AccountPart& part;
      Clock::time_point begin = Clock::now();
      ~Stop() { part.seconds += std::chrono::duration<double>(Clock::now() - begin).count(); }
    };
    AccountPart& part = part_of(name);
    part.flops += flops;
    const Stop stop{part};
    return work();
  }
  static AccountPart& part_of(const char* name) {
    for (AccountPart& part : parts_)
      if (std::strcmp(part.name, name) == 0) return part;
    return parts_.emplace_back(AccountPart{name, 0, 0});
  }

  static void begin(const AttentionProblem& problem) {
    parts_.clear();
    parts_.reserve(32);  // part_of hands out references
    value_dim_ = static_cast<double>(problem.shape.v_head_dim);
  }
  template <class Work>
  static std::vector<AccountPart> finish(Work work) {
    const Clock::time_point start = Clock::now();
    work();
    double rest = std::chrono::duration<double>(Clock::now() - start).count();
    for (const AccountPart& part : parts_) rest -= part.seconds;
    parts_.push_back({"everything else", rest, 0});
    return parts_;
  }

  inline static const ForwardKernels* forward_ = nullptr;
  inline static const BackwardKernels* backward_ = nullptr;
  inline static std::vector<AccountPart> parts_;
  inline static double value_dim_ = 0, pairs_ = 0;
  inline static bool cut_ = false;
};

}  // namespace counterpoise::bench
