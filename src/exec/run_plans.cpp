// SPDX-License-Identifier: Apache-2.0
#include "exec/run_plans.h"

#include <algorithm>

#include "counterpoise/error.h"

namespace counterpoise {
namespace {

// Keeps the first `wanted` windows.
class Collector final : public WindowSink {
 public:
  explicit Collector(int64_t wanted) : wanted_(wanted) {}
  void piece(const Piece& piece) override {
    if (full()) return;
    open_.push_back({piece.document, piece.length});
  }
  void end_window(int64_t) override {
    if (!full()) windows.push_back(std::move(open_));
    open_.clear();
  }
  bool full() const { return static_cast<int64_t>(windows.size()) >= wanted_; }

  std::vector<std::vector<PlanDocument>> windows;

 private:
  int64_t wanted_;
  std::vector<PlanDocument> open_;
};

}  // namespace

std::vector<StepPlan> plan_run(const Lengths& lengths, const RunWindows& how, PlanRequest request) {
  const int64_t per_step = how.dp * how.windows_per_group;
  const LengthSampler sampler(lengths);
  DocumentStream documents(lengths, sampler, how.order, how.seed);
  const std::unique_ptr<Packer> packer = Packer::make(how.pack);
  Collector collector(how.steps * per_step);
  bool ended = false;
  while (!collector.full() && !ended) {
    const std::optional<Document> document = documents.next();
    ended = !document;
    document ? packer->add(*document, collector) : packer->finish(collector);
  }
  if (how.shuffle) RandomStream(how.seed, 1).shuffle(std::span(collector.windows));
  const int64_t steps = static_cast<int64_t>(collector.windows.size()) / per_step;
  if (steps == 0) {
    throw_error(ErrorKind::kBadInput,
                "{}: {} windows of {} tokens are not enough for one step of {} groups x {} windows",
                lengths.source, collector.windows.size(), how.pack.window, how.dp, how.windows_per_group);
  }
  std::vector<StepPlan> plans;
  size_t next = 0;
  for (int64_t step = 0; step < steps; ++step) {
    request.groups.assign(static_cast<size_t>(how.dp), {});
    for (auto& group : request.groups) {
      for (int64_t w = 0; w < how.windows_per_group; ++w)
        group.push_back(std::move(collector.windows[next++]));
    }
    request.seed = how.seed + static_cast<uint64_t>(step);
    plans.push_back(make_plan(request));
  }
  return plans;
}

}  // namespace counterpoise
