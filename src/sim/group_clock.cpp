// SPDX-License-Identifier: Apache-2.0
#include "counterpoise/group_clock.h"

#include <algorithm>
#include <limits>

#include "plan/tile_maker.h"
#include "plan/window_rows.h"
#include "sim/group_program.h"

namespace counterpoise {
namespace {

// Prices the calls and messages of one window. Holds the tiles of one call at a time.
class WindowPricer {
 public:
  WindowPricer(const GroupSplit& split, const Prices& prices, const GroupProgram& program,
               std::span<const int64_t> lengths, const Placement& placement)
      : split_(split),
        prices_(prices),
        program_(program),
        rows_(with_documents(lengths), placement, program.routes, program.topology, split.shape) {}

  void price(WindowWork& work) {
    price_calls(work);
    price_messages(program_.topology.forward, program_.forward, work.forward);
    if (split_.backward) price_messages(program_.topology.backward, program_.backward, work.backward);
    for (const Pieces held : window_.placement) work.tokens.push_back(window_.rows(held));
  }

 private:
  WindowPlan& with_documents(std::span<const int64_t> lengths) {
    for (const int64_t length : lengths)
      window_.documents.push_back({static_cast<int64_t>(window_.documents.size()), length});
    return window_;
  }

  void price_calls(WindowWork& work) const {
    const Routes& routes = program_.routes;
    const TileMaker maker(window_, rows_, routes, program_.topology, split_.shape.mask);
    std::vector<Tile> tiles;
    for (int32_t rank = 0; rank < routes.cp; ++rank) {
      for (int32_t step = 0; step < routes.steps; ++step) {
        tiles.clear();
        maker.append(rank, step, tiles);
        work.forward.attend.push_back(price_call(tiles, false));
        if (split_.backward) work.backward.attend.push_back(price_call(tiles, true));
      }
    }
  }

  double price_call(std::span<const Tile> tiles, bool backward) const {
    return tiles.empty() ? 0 : prices_.attend(split_.shape, window_.documents, tiles, backward);
  }

  void price_messages(const std::vector<Hop>& hops, const PassProgram& program, PassWork& work) {
    for (size_t i = 0; i < hops.size(); ++i) {
      const Hop& hop = hops[i];
      const PassProgram::Message& message = program.messages[i];
      const Pieces pieces = rows_.of_hop(hop.holders, hop.up ? hop.from : hop.into);
      const int64_t rows = window_.rows(pieces), bytes = rows * message.load.row_bytes;
      work.bytes.push_back(pieces.count == 0 ? -1 : bytes);
      const bool merged = hop.up && pieces.count > 0;
      const Buffer arrived{message.dst, message.load.payload, false, message.load.heads, pieces, rows, bytes};
      work.merge.push_back(merged ? prices_.merge(arrived) : 0);
    }
  }

  const GroupSplit& split_;
  const Prices& prices_;
  const GroupProgram& program_;
  WindowPlan window_;  // documents and lists of rows; its passes stay empty
  WindowRows rows_;
};

// Ranks and ports of one group through its windows.
class Clocks {
 public:
  Clocks(int32_t cp, const Prices& prices, int32_t first_rank, Messages messages)
      : prices_(prices),
        first_rank_(first_rank),
        messages_(messages),
        ranks_(static_cast<size_t>(cp)),
        port_free_(static_cast<size_t>(cp), 0.0) {}

  void run(const PassProgram& program, const PassWork& work) {
    left_.assign(program.messages.size(), 0.0);
    arrival_.assign(program.messages.size(), 0.0);
    for (const GroupOp& op : program.ops) {
      const auto index = static_cast<size_t>(op.index);
      RankClock& rank = ranks_[static_cast<size_t>(op.rank)];
      if (op.kind == OpKind::kAttend) {
        compute(rank, work.attend[index]);
      } else if (work.bytes[index] < 0) {
        continue;
      } else if (op.kind == OpKind::kSend) {
        send(program.messages[index], index, work.bytes[index]);
      } else if (op.kind == OpKind::kMerge) {
        compute(rank, work.merge[index]);
      } else {
        wait(rank, op.rank == program.messages[index].src ? left_[index] : arrival_[index]);
      }
    }
  }

  std::vector<RankClock> finish() { return std::move(ranks_); }

 private:
  static void compute(RankClock& rank, double seconds) {
    const double begin = rank.end;
    rank.end = begin + seconds;
    rank.compute += rank.end - begin;
  }

  static void wait(RankClock& rank, double until) {
    const double begin = rank.end;
    rank.end = std::max(begin, until);
    rank.wait += rank.end - begin;
  }

  void send(const PassProgram::Message& message, size_t index, int64_t bytes) {
    const auto src = static_cast<size_t>(message.src);
    const Link link = messages_ == Messages::kFree
                          ? Link{0, std::numeric_limits<double>::infinity()}
                          : prices_.link(first_rank_ + message.src, first_rank_ + message.dst, bytes);
    const double begin = std::max(ranks_[src].end, port_free_[src]);
    left_[index] = begin + static_cast<double>(bytes) / link.bytes_per_second;
    arrival_[index] = left_[index] + link.latency;
    port_free_[src] = left_[index];
    ranks_[src].sent += bytes;
  }

  const Prices& prices_;
  int32_t first_rank_;
  Messages messages_;
  std::vector<RankClock> ranks_;
  std::vector<double> port_free_;
  std::vector<double> left_, arrival_;  // by message of the pass that runs
};

}  // namespace

struct GroupClock::State {
  int32_t cp;
  GroupSplit split;
  const Prices& prices;
  std::shared_ptr<const GroupProgram> shared;  // null: the scheme looks at the window

  std::shared_ptr<const GroupProgram> program_of(std::span<const int64_t> lengths,
                                                 const Placement* placement) const {
    const SchemeInput input{lengths, placement, cp, split.shape, split.scheme_options};
    return std::make_shared<GroupProgram>(make_group_program(make_routes(split.scheme, input), split.shape));
  }

  Placement place(std::span<const int64_t> lengths) const {
    return shard_window(split.sharder, {lengths, cp, split.shape.mask, split.shard_options});
  }
};

GroupClock::GroupClock(int32_t cp, const GroupSplit& split, const Prices& prices)
    : state_(new State{cp, split, prices, nullptr}) {
  check_shape(split.shape);
  const Placement none = state_->place({});  // refuses names and options it does not know
  const auto program = state_->program_of({}, &none);
  if (routes_shared(split.scheme)) state_->shared = program;
}

GroupClock::~GroupClock() = default;

WindowWork GroupClock::work(std::span<const int64_t> lengths) const {
  const Placement placement = state_->place(lengths);
  WindowWork work;
  work.program = state_->shared ? state_->shared : state_->program_of(lengths, &placement);
  WindowPricer(state_->split, state_->prices, *work.program, lengths, placement).price(work);
  return work;
}

std::vector<RankClock> GroupClock::run(std::span<const WindowWork> windows, int32_t first_rank,
                                       Messages messages) const {
  Clocks clocks(state_->cp, state_->prices, first_rank, messages);
  for (const WindowWork& window : windows) {
    clocks.run(window.program->forward, window.forward);
    if (state_->split.backward) clocks.run(window.program->backward, window.backward);
  }
  return clocks.finish();
}

}  // namespace counterpoise
