// SPDX-License-Identifier: Apache-2.0
#include "kernels/simd/backward_driver.h"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <vector>

#include "counterpoise/error.h"
#include "counterpoise/parallel.h"
#include "kernels/rows/rows.h"
#include "kernels/simd/backward_plan.h"
#include "kernels/simd/buffer.h"
#include "kernels/simd/float_rows.h"
#include "kernels/simd/packed_queries.h"

namespace counterpoise {
namespace {

constexpr int64_t kMaxKeysPerBlock = 96;  // a multiple of every key_step and outer_rows, as is 72
constexpr int64_t kPanelsPerBlock = 4;
constexpr int64_t kWorkspaceFloats = int64_t{1} << 26;  // packed queries held at once, one head at least

int64_t round_up(int64_t x, int64_t step) {
  return (x + step - 1) / step * step;
}
int64_t round_down(int64_t x, int64_t step) {
  return x / step * step;
}
int clamp_limit(int64_t x) {
  constexpr int64_t kNoLimit = 1 << 28;
  return static_cast<int>(std::clamp(x, -kNoLimit, kNoLimit));
}

// How often each (query head, block of queries) had its dq added to. A visit waits for its turn, so that the
// sums are made in one order.
class Turns {
 public:
  Turns(int64_t heads, int64_t blocks) : blocks_(blocks), done_(static_cast<size_t>(heads * blocks)) {}

  void wait(int64_t head, int64_t block, uint32_t turn) {
    std::atomic<uint32_t>& done = done_[head * blocks_ + block];
    for (int spins = 0; done.load(std::memory_order_acquire) != turn; ++spins) {
      if (failed_.load(std::memory_order_relaxed))
        throw_error(ErrorKind::kCheckFailed, "another thread failed");
      if (spins > 1000) sched_yield();
    }
  }
  void finish(int64_t head, int64_t block, uint32_t turn) {
    done_[head * blocks_ + block].store(turn + 1, std::memory_order_release);
  }
  void fail() { failed_.store(true); }

 private:
  const int64_t blocks_;
  std::vector<std::atomic<uint32_t>> done_;
  std::atomic<bool> failed_{false};
};

// Works through one item: a block of keys of one key/value head.
class ItemRunner {
 public:
  ItemRunner(const BackwardKernels& kernels, const AttentionProblem& problem, const BackwardTensors& tensors,
             const KvBlocks& kv, const QueryBlocks& queries, const PackedQueries& packed)
      : kernels_(kernels),
        problem_(problem),
        tensors_(tensors),
        kv_(kv),
        queries_(queries),
        packed_(packed),
        k_columns_(round_up(problem.shape.head_dim, kernels.strip)),
        v_columns_(round_up(problem.shape.v_head_dim, kernels.strip)),
        weights_floats_((kMaxKeysPerBlock + 16) * kernels.width),
        weights_(2 * kPanelsPerBlock * weights_floats_),
        k_strips_(kMaxKeysPerBlock * k_columns_),
        dk_(kMaxKeysPerBlock * k_columns_),
        dv_(kMaxKeysPerBlock * v_columns_),
        staging_(kMaxKeysPerBlock * (problem.shape.head_dim + problem.shape.v_head_dim)) {}

  void begin(const BackwardPlan::Item& item) {
    rows_ = kv_.rows(item.block);
    kv_head_ = item.kv_head;
    k_ = float_rows(tensors_.k, rows_, kv_head_, staging_.data());
    v_ =
        float_rows(tensors_.v, rows_, kv_head_, staging_.data() + kMaxKeysPerBlock * problem_.shape.head_dim);
    kernels_.pack_strips(k_.data, k_.stride, keys(), keys(), dim(),
                         static_cast<float>(problem_.shape.softmax_scale), k_strips_.data());
    std::fill_n(dk_.data(), kMaxKeysPerBlock * k_columns_, 0.0f);
    std::fill_n(dv_.data(), kMaxKeysPerBlock * v_columns_, 0.0f);
  }

  // p and ds of the visit, and what they add to dk and dv.
  void attend(const BackwardPlan::Visit& visit) {
    const QueryBlocks::Block& block = queries_.blocks[visit.query_block];
    panel_count_ = 0;
    for (int64_t i = 0; i < block.panel_count; ++i) attend_panel(visit, block.first_panel + i);
    KeyGradientArgs args{dv_panels_, panel_count_, keys(), 0, static_cast<int>(v_columns_ / kernels_.strip),
                         dv_.data()};
    for (int i = 0; i < panel_count_; ++i) {
      args.begin = std::min(args.begin, dv_panels_[i].begin);
      args.end = std::max(args.end, dv_panels_[i].end);
    }
    kernels_.key_gradients(args);
    args.panels = dk_panels_;
    args.strip_count = static_cast<int>(k_columns_ / kernels_.strip);
    args.c = dk_.data();
    kernels_.key_gradients(args);
  }

  // What the visit adds to dq.
  void add_query_gradients() {
    const TensorView& dq = tensors_.dq;
    for (int i = 0; i < panel_count_; ++i) {
      const PanelKeys& panel = panels_[i];
      kernels_.query_gradients({dk_panels_[i].weights, k_strips_.data(), keys(), panel.begin, panel.end,
                                panel.low, panel.high, static_cast<int>(panel.rows.size()), dim(),
                                static_cast<float*>(row_address(dq, panel.rows.begin, panel.head)),
                                dq.token_stride});
    }
  }

  void finish() {
    add_rows(dk_.data(), k_columns_, tensors_.dk);
    add_rows(dv_.data(), v_columns_, tensors_.dv);
  }

 private:
  struct PanelKeys {
    Range rows;
    int64_t head;
    int begin, end, low, high;
  };

  void attend_panel(const BackwardPlan::Visit& visit, int64_t index) {
    const AttentionTile& tile = *visit.tile;
    const Range rows = queries_.panels[index];
    const Range q{rows.begin + q_shift(tile), rows.end + q_shift(tile)};
    const int64_t key0 = rows_.begin + kv_shift(tile);
    const Range seen = intersect(visit.keys, visible_keys(q, visit.keys.end, problem_.mask));
    if (seen.empty()) return;
    const PackedQueries::Panel packed = packed_.panel(index, visit.head);
    GradientArgs args;
    args.q = packed.q;
    args.k = k_.data;
    args.dout = packed.dout;
    args.v = v_.data;
    args.k_stride = k_.stride;
    args.v_stride = v_.stride;
    args.dim = dim();
    args.value_dim = static_cast<int>(problem_.shape.v_head_dim);
    args.begin = static_cast<int>(seen.begin - key0);
    args.end = static_cast<int>(seen.end - key0);
    args.low = clamp_limit(problem_.mask.left < 0 ? INT64_MIN : q.begin - problem_.mask.left - key0);
    args.high = clamp_limit(problem_.mask.right < 0 ? INT64_MAX : q.begin + problem_.mask.right - key0);
    args.rows = static_cast<int>(rows.size());
    args.lse = packed.lse;
    args.delta = packed.delta;
    args.p = weights_.data() + 2 * panel_count_ * weights_floats_;
    args.ds = args.p + weights_floats_;
    kernels_.gradients(args);

    // key_gradients works in whole tiles: the rest of the first and the last are zero.
    const int begin = static_cast<int>(round_down(args.begin, kernels_.outer_rows));
    const int end = static_cast<int>(round_up(args.end, kernels_.outer_rows));
    for (float* weights : {args.p, args.ds}) {
      std::fill(weights + begin * kernels_.width, weights + args.begin * kernels_.width, 0.0f);
      std::fill(weights + args.end * kernels_.width, weights + end * kernels_.width, 0.0f);
    }
    dv_panels_[panel_count_] = {args.p, packed.dout_strips, begin, end, args.low, args.high, args.rows};
    dk_panels_[panel_count_] = {args.ds, packed.q_strips, begin, end, args.low, args.high, args.rows};
    panels_[panel_count_] = {rows, visit.head, args.begin, args.end, args.low, args.high};
    ++panel_count_;
  }

  void add_rows(const float* from, int64_t stride, const TensorView& to) const {
    for (int64_t i = 0; i < rows_.size(); ++i) {
      float* row = static_cast<float*>(row_address(to, rows_.begin + i, kv_head_));
      for (int64_t c = 0; c < to.dim; ++c) row[c] += from[i * stride + c];
    }
  }

  int keys() const { return static_cast<int>(rows_.size()); }
  int dim() const { return static_cast<int>(problem_.shape.head_dim); }

  const BackwardKernels& kernels_;
  const AttentionProblem& problem_;
  const BackwardTensors& tensors_;
  const KvBlocks& kv_;
  const QueryBlocks& queries_;
  const PackedQueries& packed_;
  const int64_t k_columns_, v_columns_, weights_floats_;
  Buffer weights_, k_strips_, dk_, dv_, staging_;
  FloatRows k_{}, v_{};
  Range rows_;
  int64_t kv_head_ = 0;
  int panel_count_ = 0;
  PanelKeys panels_[kPanelsPerBlock];
  KeyGradientArgs::Panel dv_panels_[kPanelsPerBlock], dk_panels_[kPanelsPerBlock];
};

// The key/value heads [kv_heads.begin, kv_heads.end), whose packed queries are held in memory together.
class HeadBatch {
 public:
  HeadBatch(const BackwardKernels& kernels, const AttentionProblem& problem, const BackwardTensors& tensors,
            const KvBlocks& kv, const QueryBlocks& queries, Range kv_heads)
      : kernels_(kernels),
        problem_(problem),
        tensors_(tensors),
        kv_(kv),
        queries_(queries),
        kv_heads_(kv_heads),
        heads_{kv_heads.begin * problem.group(), kv_heads.end * problem.group()},
        packed_(kernels, problem, tensors, queries, heads_),
        finite_(static_cast<size_t>(kv_heads.size())) {}

  void run() {
    pack();
    const BackwardPlan plan(problem_, kv_, queries_, kv_heads_);
    Turns turns(heads_.size(), static_cast<int64_t>(queries_.blocks.size()));
    parallel_for(static_cast<int64_t>(plan.items().size()), problem_.threads, [&](int64_t i) {
      try {
        run_item(plan, i, turns);
      } catch (...) {
        turns.fail();
        throw;
      }
    });
    // An infinity or NaN must reach exactly the rows that see it, which sums over whole blocks cannot
    // promise.
    for (int64_t head = kv_heads_.begin; head < kv_heads_.end; ++head)
      if (!finite(head)) rows_backward_head(problem_, tensors_, head);
  }

 private:
  bool finite(int64_t kv_head) const {
    return finite_[kv_head - kv_heads_.begin].load(std::memory_order_relaxed);
  }

  void pack() {
    for (auto& finite : finite_) finite.store(true);
    const int64_t panels = static_cast<int64_t>(queries_.panels.size()),
                  blocks = static_cast<int64_t>(kv_.count());
    constexpr int64_t kChunk = 16;
    const int64_t chunks = (panels + kChunk - 1) / kChunk;
    parallel_for(heads_.size() * chunks, problem_.threads, [&](int64_t i) {
      const int64_t head = heads_.begin + i / chunks, first = i % chunks * kChunk;
      Buffer staging(packed_.staging_floats());
      for (int64_t panel = first; panel < std::min(panels, first + kChunk); ++panel)
        note(head / problem_.group(), packed_.pack(panel, head, staging.data()));
    });
    parallel_for(kv_heads_.size() * blocks, problem_.threads, [&](int64_t i) {
      const int64_t kv_head = kv_heads_.begin + i / blocks;
      const Range rows = kv_.rows(i % blocks);
      for (const ConstTensorView* t : {&tensors_.k, &tensors_.v}) {
        Buffer staging(t->dtype == DType::kFloat32 ? 0 : rows.size() * t->dim);
        const FloatRows x = float_rows(*t, rows, kv_head, staging.data());
        note(kv_head,
             kernels_.all_finite(x.data, x.stride, static_cast<int>(rows.size()), static_cast<int>(t->dim)));
      }
    });
  }

  void note(int64_t kv_head, bool finite) {
    if (!finite) finite_[kv_head - kv_heads_.begin].store(false, std::memory_order_relaxed);
  }

  void run_item(const BackwardPlan& plan, int64_t index, Turns& turns) {
    const BackwardPlan::Item& item = plan.items()[index];
    if (!finite(item.kv_head)) return;
    ItemRunner runner(kernels_, problem_, tensors_, kv_, queries_, packed_);
    runner.begin(item);
    size_t visit_index = 0;
    plan.for_each_visit(item, [&](const BackwardPlan::Visit& visit) {
      runner.attend(visit);
      if (problem_.threads == 1) return runner.add_query_gradients();
      const uint32_t turn = plan.turns(index)[visit_index++];
      const int64_t head = visit.head - heads_.begin;
      turns.wait(head, visit.query_block, turn);
      runner.add_query_gradients();
      turns.finish(head, visit.query_block, turn);
    });
    runner.finish();
  }

  const BackwardKernels& kernels_;
  const AttentionProblem& problem_;
  const BackwardTensors& tensors_;
  const KvBlocks& kv_;
  const QueryBlocks& queries_;
  const Range kv_heads_, heads_;
  PackedQueries packed_;
  std::vector<std::atomic<bool>> finite_;
};

}  // namespace

void blocked_backward(const BackwardKernels& kernels, const AttentionProblem& problem,
                      const BackwardTensors& tensors) {
  // K, V, their strips and gradients stay in the second-level cache while queries stream by.
  const KvBlocks kv(problem.tiles, problem.shape.head_dim > 96 ? 72 : kMaxKeysPerBlock);
  const QueryBlocks queries(problem.tiles, kernels.width, kPanelsPerBlock);
  const int64_t per_head = PackedQueries::floats_per_panel(kernels, problem.shape) * problem.group() *
                           static_cast<int64_t>(queries.panels.size());
  const int64_t heads_at_once =
      std::clamp<int64_t>(per_head ? kWorkspaceFloats / per_head : 1, 1, problem.shape.kv_heads);
  for (int64_t head = 0; head < problem.shape.kv_heads; head += heads_at_once)
    HeadBatch(kernels, problem, tensors, kv, queries,
              {head, std::min(head + heads_at_once, problem.shape.kv_heads)})
        .run();
}

}  // namespace counterpoise
