// SPDX-License-Identifier: Apache-2.0
#include "plan/window_rows.h"

#include <algorithm>
#include <tuple>

#include "counterpoise/error.h"

namespace counterpoise {
namespace {

// Appends to the list at the end of `pieces`, joining what touches.
void append_piece(std::vector<PlanPiece>& pieces, Pieces& list, int32_t document, Range range) {
  if (list.count > 0) {
    PlanPiece& last = pieces.back();
    if (last.document == document && last.range.end == range.begin) {
      last.range.end = range.end;
      return;
    }
  }
  const int64_t row = list.count == 0 ? 0 : pieces.back().row + pieces.back().range.size();
  pieces.push_back({document, range, row});
  ++list.count;
}

}  // namespace

WindowRows::WindowRows(WindowPlan& window, const Placement& placement, const Routes& routes,
                       const Topology& topology, const AttentionShape& shape)
    : window_(window), routes_(routes), topology_(topology), shape_(shape), wanted_(routes.cp, 0) {
  make_placement(placement);
  make_work();
  if (routes_.trim) make_needs();
  make_blocks();
}

void WindowRows::make_placement(const Placement& placement) {
  for (int32_t rank = 0; rank < routes_.cp; ++rank) {
    Pieces list{static_cast<int32_t>(window_.pieces.size()), 0};
    for (const HeldRange& held : placement.of(rank)) {
      append_piece(window_.pieces, list, held.document, held.range);
    }
    window_.placement.push_back(list);
  }
  owned_ = owned_ranges(placement);
}

void WindowRows::make_work() {
  work_.resize(topology_.blocks.size());
  if (routes_.work.empty()) {
    for (size_t block = 0; block < topology_.blocks.size(); ++block) {
      if (!topology_.blocks[block].keys) add_all_work(block);
    }
    return;
  }
  for (const Work& work : routes_.work) {
    work_[topology_.query_block[routes_.at(work.rank, work.holder)]].push_back(work);
  }
  for (auto& list : work_) {
    std::sort(list.begin(), list.end(), [](const Work& a, const Work& b) {
      return std::tuple{a.document, a.q.begin, a.kv.begin} < std::tuple{b.document, b.q.begin, b.kv.begin};
    });
  }
}

// Every row of the block's holders against every key.
void WindowRows::add_all_work(size_t block) {
  const Block& known = topology_.blocks[block];
  const Pieces rows =
      known.holders.size() == 1 ? window_.placement[known.holders[0]] : select(known.holders, nullptr);
  for (const PlanPiece& piece : window_.list(rows)) {
    const Range all_keys{0, window_.documents[piece.document].length};
    work_[block].push_back({known.rank, known.holders[0], piece.document, piece.range, all_keys});
  }
}

void WindowRows::make_needs() {
  std::vector<int64_t> lengths;
  for (const PlanDocument& document : window_.documents) lengths.push_back(document.length);
  std::vector<std::vector<Work>> work_of_rank(routes_.cp);
  needs_.resize(topology_.blocks.size());
  for (size_t block = 0; block < topology_.blocks.size(); ++block) {
    for (const Work& work : work_[block]) {
      work_of_rank[work.rank].push_back(work);
      needs_[block].push_back({work.document, work.q});
    }
    make_disjoint(needs_[block]);
  }
  std::vector<std::vector<HeldRange>> keys;
  for (const auto& work : work_of_rank) keys.push_back(needed_keys(work, lengths, shape_.mask));
  for (size_t block = 0; block < topology_.blocks.size(); ++block) {
    if (topology_.blocks[block].keys) needs_[block] = keys[topology_.blocks[block].rank];
  }
}

void WindowRows::make_blocks() {
  for (size_t block = 0; block < topology_.blocks.size(); ++block) {
    const Block& known = topology_.blocks[block];
    const bool home = topology_.is_home(static_cast<int32_t>(block));
    blocks_.push_back(home ? window_.placement[known.rank]
                           : of_hop(known.holders, static_cast<int32_t>(block)));
  }
}

Pieces WindowRows::of_hop(const std::vector<int32_t>& holders, int32_t user) {
  if (routes_.trim) return select(holders, &needs_[user]);
  if (holders.size() == 1) return window_.placement[holders[0]];
  const bool all = user < static_cast<int32_t>(blocks_.size()) && topology_.blocks[user].holders == holders;
  return all ? blocks_[user] : select(holders, nullptr);
}

// Ranges of the holders in document order, cut to `need` if there is one.
Pieces WindowRows::select(const std::vector<int32_t>& holders, const std::vector<HeldRange>* need) {
  for (int32_t holder : holders) wanted_[holder] = 1;
  Pieces list{static_cast<int32_t>(window_.pieces.size()), 0};
  if (need == nullptr) {
    for (const OwnedRange& owned : owned_) {
      if (wanted_[owned.holder]) append_piece(window_.pieces, list, owned.document, owned.range);
    }
  } else {
    for_each_common(owned_, *need, [&](int32_t holder, int32_t document, Range range) {
      if (wanted_[holder]) append_piece(window_.pieces, list, document, range);
    });
  }
  for (int32_t holder : holders) wanted_[holder] = 0;
  return list;
}

}  // namespace counterpoise
