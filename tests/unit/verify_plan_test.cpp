// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>

#include "counterpoise/error.h"
#include "counterpoise/random.h"
#include "counterpoise/verify.h"
#include "plan/verify_pass.h"

namespace counterpoise {
namespace {

StepPlan small_plan(const char* scheme = "ring") {
  PlanRequest request;
  request.groups = {{{{0, 9}, {1, 4}}}};
  request.cp = 2;
  request.shape.heads = request.shape.kv_heads = 2;
  request.scheme = scheme;
  request.backward = true;
  return make_plan(request);
}

bool has_rule(const VerifyReport& report, const std::string& rule) {
  for (const Violation& violation : report.violations) {
    if (violation.rule == rule) return true;
  }
  return false;
}

TEST(VerifyPlan, PairsAreThoseOfTheMask) {
  EXPECT_EQ(verify(small_plan()).pairs, 2 * (45 + 10));
  EXPECT_TRUE(verify(small_plan()).ok());
}

TEST(VerifyPlan, CountsPairsLikeALoop) {
  constexpr uint64_t kSeed = 3;
  RandomStream random(kSeed);
  const auto draw = [&] { return static_cast<int64_t>(random.below(14)); };
  for (int i = 0; i < 20000; ++i) {
    const Range q{draw(), draw()}, kv{draw(), draw()};
    const Mask mask{draw() - 1, draw() - 1};
    int64_t pairs = 0;
    for (int64_t a = q.begin; a < q.end; ++a) {
      for (int64_t b = kv.begin; b < kv.end; ++b) pairs += mask.visible(a, b);
    }
    ASSERT_EQ(verifier::count_pairs(q, kv, mask), pairs) << "seed " << kSeed << " draw " << i;
  }
}

TEST(VerifyPlan, WaitingForEachOtherIsADeadlock) {
  // Both ranks wait for what they receive before they post what the other waits for.
  StepPlan plan = small_plan();
  Pass& pass = plan.groups[0].windows[0].forward;
  for (int32_t rank = 0; rank < 2; ++rank) {
    const auto first = pass.ops.begin() + pass.programs[rank];
    const auto last = pass.ops.begin() + pass.programs[rank + 1];
    const auto sends_later = [&](const Op& op) {
      const bool message = op.kind != OpKind::kAttend && op.kind != OpKind::kMerge;
      return message && pass.transfers[op.index].src == rank;
    };
    std::stable_partition(first, last, [&](const Op& op) { return !sends_later(op); });
  }
  EXPECT_TRUE(has_rule(verify(plan), "deadlock"));
}

TEST(VerifyPlan, MemoryLimitIsExact) {
  const StepPlan plan = small_plan();
  const int64_t peak = verify(plan).peak_bytes;
  EXPECT_TRUE(verify(plan, {peak}).ok());
  EXPECT_TRUE(has_rule(verify(plan, {peak - 1}), "memory"));
  int64_t own = 0;
  for (const Pass* pass : {&plan.groups[0].windows[0].forward, &plan.groups[0].windows[0].backward}) {
    for (int32_t rank = 0; rank < 2; ++rank) own = std::max(own, peak_bytes(*pass, rank));
  }
  EXPECT_EQ(peak, own);
}

// Gives one tile of travelling queries back to the holder of queries and keys; the rest still travels.
void compute_a_tile_at_home(WindowPlan& window) {
  Pass& pass = window.forward;
  for (Op& op : pass.ops) {
    if (op.kind != OpKind::kAttend) continue;
    for (int32_t i = op.index; i < op.index + op.count; ++i) {
      const Tile& tile = pass.tiles[i];
      const int32_t holder = 1 - tile.rank;
      const auto held = window.list(window.placement[holder]);
      if (pass.buffers[tile.q_result].home || row_of(held, tile.document, tile.kv.begin) < 0) continue;
      std::swap(pass.tiles[i], pass.tiles[op.index + op.count - 1]);
      Tile& moved = pass.tiles[op.index + op.count - 1];
      moved.rank = holder;
      moved.q_buffer = home_buffer(false, holder, Payload::kQ);
      moved.kv_buffer = home_buffer(false, holder, Payload::kKv);
      moved.q_result = home_buffer(false, holder, Payload::kPartial);
      --op.count;
      pass.ops.insert(pass.ops.begin() + pass.programs[holder + 1],
                      Op{OpKind::kAttend, op.index + op.count, 1});
      for (int32_t rank = holder + 1; rank <= 2; ++rank) ++pass.programs[rank];
      return;
    }
  }
  FAIL() << "no such tile";
}

TEST(VerifyPlan, OutOfSomeKeysMayTravelAsAPartialOnly) {
  StepPlan plan = small_plan("all_to_all");
  WindowPlan& window = plan.groups[0].windows[0];
  ASSERT_TRUE(verify(plan).ok());
  compute_a_tile_at_home(window);
  EXPECT_TRUE(has_rule(verify(plan), "result"));
  for (Transfer& transfer : window.forward.transfers) {
    if (transfer.payload == Payload::kOut) transfer.payload = Payload::kPartial;
  }
  for (Buffer& buffer : window.forward.buffers) {
    if (buffer.payload == Payload::kOut) buffer.payload = Payload::kPartial;
  }
  EXPECT_TRUE(verify(plan).ok())
      << verify(plan).violations[0].message;  // at 4 bytes an element both take as many
}

TEST(VerifyPlan, MessagesNameGroupWindowPassAndRank) {
  StepPlan plan = small_plan();
  plan.groups[0].windows[0].backward.transfers[0].bytes += 1;
  try {
    require_valid(plan);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kCheckFailed);
    EXPECT_NE(std::string(error.what()).find("group 0 window 0 backward transfer 0"), std::string::npos)
        << error.what();
  }
}

TEST(VerifyPlan, StopsCollectingAtTheLimit) {
  StepPlan plan = small_plan();
  for (Tile& tile : plan.groups[0].windows[0].forward.tiles) tile.rank = 7;
  EXPECT_EQ(verify(plan, {0, 3}).violations.size(), 3u);
}

TEST(VerifyPlan, WildIndicesAreFoundNotFollowed) {
  constexpr uint64_t kSeed = 8;
  RandomStream random(kSeed);
  const StepPlan plan = small_plan("ring2d");
  const int64_t wild[] = {-1, -1000000, 1000000, INT32_MAX, INT32_MIN};
  for (int i = 0; i < 3000; ++i) {
    StepPlan broken = plan;
    WindowPlan& window = broken.groups[0].windows[0];
    Pass& pass = random.below(2) == 0 ? window.forward : window.backward;
    const auto value = static_cast<int32_t>(wild[random.below(5)]);
    switch (random.below(8)) {
      case 0:
        pass.ops[random.below(pass.ops.size())].index = value;
        break;
      case 1:
        pass.ops[random.below(pass.ops.size())].count = value;
        break;
      case 2:
        pass.tiles[random.below(pass.tiles.size())].kv_buffer = value;
        break;
      case 3:
        pass.transfers[random.below(pass.transfers.size())].into = value;
        break;
      case 4:
        pass.buffers[random.below(pass.buffers.size())].pieces.first = value;
        break;
      case 5:
        pass.programs[random.below(pass.programs.size())] = value;
        break;
      case 6:
        window.pieces[random.below(window.pieces.size())].document = value;
        break;
      case 7:
        pass.buffers[random.below(pass.buffers.size())].rank = value;
        break;
    }
    ASSERT_FALSE(verify(broken).ok()) << "seed " << kSeed << " draw " << i;
  }
}

}  // namespace
}  // namespace counterpoise
