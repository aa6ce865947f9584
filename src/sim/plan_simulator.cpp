// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <deque>
#include <optional>

#include "counterpoise/error.h"
#include "counterpoise/simulate_plan.h"

namespace counterpoise {
namespace {

// A message that was sent: when its bytes had left, and when they arrive.
struct Sent {
  double left = 0;
  double arrival = 0;
};

// All ranks of one group through all windows. A rank runs until it needs a message that was not sent yet; the
// sender puts it back into the queue. Time is local to ranks, so the order of the queue changes nothing.
class GroupSimulator {
 public:
  GroupSimulator(const StepPlan& plan, int32_t group, const Prices& prices, std::vector<Span>& spans)
      : plan_(plan),
        windows_(plan.groups[static_cast<size_t>(group)].windows),
        first_rank_(group * plan.cp),
        prices_(prices),
        spans_(spans),
        ranks_(static_cast<size_t>(plan.cp)) {}

  // The time at which each rank has finished its windows.
  std::vector<double> run() {
    list_passes();
    for (int32_t rank = 0; rank < plan_.cp; ++rank) runnable_.push_back(rank);
    while (!runnable_.empty()) {
      const int32_t rank = runnable_.front();
      runnable_.pop_front();
      advance(rank);
    }
    check_finished();
    std::vector<double> ends;
    for (const RankState& rank : ranks_) ends.push_back(rank.now);
    return ends;
  }

 private:
  struct PassState {
    const Pass* pass;
    int32_t window;
    bool backward;
    std::vector<std::optional<Sent>> sent;  // by transfer
  };
  struct RankState {
    size_t pass = 0;
    int32_t op = 0;
    double now = 0;
    double port_free = 0;
    std::optional<std::pair<size_t, int32_t>> blocked_on;  // pass, transfer
  };

  void list_passes() {
    for (size_t w = 0; w < windows_.size(); ++w) {
      for (const bool backward : {false, true}) {
        const Pass& pass = backward ? windows_[w].backward : windows_[w].forward;
        if (pass.programs.empty()) continue;
        passes_.push_back({&pass, static_cast<int32_t>(w), backward, {}});
        passes_.back().sent.resize(pass.transfers.size());
      }
    }
  }

  void advance(int32_t rank) {
    RankState& state = ranks_[static_cast<size_t>(rank)];
    for (; state.pass < passes_.size(); ++state.pass, state.op = 0) {
      const auto program = passes_[state.pass].pass->program(rank);
      for (; state.op < static_cast<int32_t>(program.size()); ++state.op) {
        if (!step(rank, state, program[static_cast<size_t>(state.op)])) return;
      }
    }
  }

  // False when the op must wait for a message nobody has sent yet.
  bool step(int32_t rank, RankState& state, const Op& op) {
    const PassState& at = passes_[state.pass];
    switch (op.kind) {
      case OpKind::kSend:
        send(rank, state, op.index);
        return true;
      case OpKind::kRecv:
        return true;
      case OpKind::kWait:
        return wait(rank, state, op.index);
      case OpKind::kAttend: {
        const auto tiles =
            std::span(at.pass->tiles).subspan(static_cast<size_t>(op.index), static_cast<size_t>(op.count));
        const auto& documents = windows_[static_cast<size_t>(at.window)].documents;
        compute(SpanKind::kAttend, rank, state, prices_.attend(plan_.shape, documents, tiles, at.backward));
        return true;
      }
      case OpKind::kMerge: {
        const Merge& merge = at.pass->merges[static_cast<size_t>(op.index)];
        compute(SpanKind::kMerge, rank, state,
                prices_.merge(at.pass->buffers[static_cast<size_t>(merge.from)]));
        return true;
      }
    }
    return true;
  }

  void compute(SpanKind kind, int32_t rank, RankState& state, double seconds) {
    const double begin = state.now;
    state.now = begin + seconds;
    record(kind, rank, -1, state, state.op, begin, state.now);
  }

  void send(int32_t rank, RankState& state, int32_t index) {
    PassState& at = passes_[state.pass];
    const Transfer& transfer = at.pass->transfers[static_cast<size_t>(index)];
    const Link link = prices_.link(first_rank_ + rank, first_rank_ + transfer.dst, transfer.bytes);
    const double begin = std::max(state.now, state.port_free);
    const double left = begin + static_cast<double>(transfer.bytes) / link.bytes_per_second;
    const double arrival = left + link.latency;
    state.port_free = left;
    at.sent[static_cast<size_t>(index)] = Sent{left, arrival};
    record(SpanKind::kTransfer, rank, transfer.dst, state, index, begin, arrival);
    wake(transfer.dst, state.pass, index);
  }

  void wake(int32_t receiver, size_t pass, int32_t transfer) {
    RankState& state = ranks_[static_cast<size_t>(receiver)];
    if (state.blocked_on != std::pair(pass, transfer)) return;
    state.blocked_on.reset();
    runnable_.push_back(receiver);
  }

  bool wait(int32_t rank, RankState& state, int32_t index) {
    const PassState& at = passes_[state.pass];
    const Transfer& transfer = at.pass->transfers[static_cast<size_t>(index)];
    const std::optional<Sent>& sent = at.sent[static_cast<size_t>(index)];
    if (!sent) {
      state.blocked_on = std::pair(state.pass, index);
      return false;
    }
    const bool sender = transfer.src == rank;
    const double begin = state.now;
    state.now = std::max(begin, sender ? sent->left : sent->arrival);
    record(SpanKind::kWait, rank, sender ? transfer.dst : transfer.src, state, state.op, begin, state.now);
    return true;
  }

  void record(SpanKind kind, int32_t rank, int32_t peer, const RankState& state, int32_t index, double begin,
              double end) {
    const PassState& at = passes_[state.pass];
    spans_.push_back({kind, at.backward, first_rank_ + rank, peer < 0 ? -1 : first_rank_ + peer, at.window,
                      index, begin, end});
  }

  void check_finished() const {
    for (size_t rank = 0; rank < ranks_.size(); ++rank) {
      const RankState& state = ranks_[rank];
      if (!state.blocked_on) continue;
      const PassState& at = passes_[state.pass];
      const Transfer& transfer = at.pass->transfers[static_cast<size_t>(state.blocked_on->second)];
      throw_error(
          ErrorKind::kCheckFailed,
          "rank {} waits forever: window {}, {}, op {} needs transfer {} from rank {}, which never sends it",
          first_rank_ + static_cast<int32_t>(rank), at.window, at.backward ? "backward" : "forward", state.op,
          state.blocked_on->second, first_rank_ + transfer.src);
    }
  }

  const StepPlan& plan_;
  const std::vector<WindowPlan>& windows_;
  int32_t first_rank_;
  const Prices& prices_;
  std::vector<Span>& spans_;
  std::vector<PassState> passes_;
  std::vector<RankState> ranks_;
  std::deque<int32_t> runnable_;
};

}  // namespace

Timeline simulate_plan(const StepPlan& plan, const Prices& prices) {
  Timeline timeline{plan.dp() * plan.cp, {}};
  std::vector<double> ends;
  for (int32_t group = 0; group < plan.dp(); ++group) {
    const std::vector<double> of_group = GroupSimulator(plan, group, prices, timeline.spans).run();
    ends.insert(ends.end(), of_group.begin(), of_group.end());
  }
  const double last = *std::max_element(ends.begin(), ends.end());
  const double end = last + prices.all_reduce(timeline.ranks);
  for (int32_t rank = 0; rank < timeline.ranks; ++rank) {
    timeline.spans.push_back(
        {SpanKind::kReduce, false, rank, -1, -1, -1, ends[static_cast<size_t>(rank)], end});
  }
  timeline.sort();
  return timeline;
}

}  // namespace counterpoise
