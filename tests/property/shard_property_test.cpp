// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "counterpoise/error.h"
#include "counterpoise/random.h"
#include "counterpoise/shard.h"

namespace counterpoise {
namespace {

constexpr int64_t kBlock = 5;

// A window as a policy's promise sees it. Areas are causal.
struct WindowFacts {
  int64_t cp = 1, tokens = 0, documents = 0, longest = 0, cap = 0;
  double area = 0, largest_area = 0;
  double mean() const { return area / static_cast<double>(cp); }
  double even() const { return static_cast<double>((tokens + cp - 1) / cp); }  // tokens, rounded up
};

// What a policy promises: at most so many tokens on a rank, and so much area.
struct Promise {
  const char* sharder;
  double (*most_tokens)(const WindowFacts&);
  double (*most_area)(const WindowFacts&);         // any window
  double (*most_area_of_one)(const WindowFacts&);  // a window of one document
};

double any_area(const WindowFacts& w) {
  return w.area;
}
double even_tokens(const WindowFacts& w) {
  return w.even();
}

// One row per sharder; every row inherits all checks below.
const Promise kPromises[] = {
    {"contiguous", even_tokens, any_area,
     [](const WindowFacts& w) { return w.mean() * (2 + 2.0 * w.cp / w.tokens); }},
    {"zigzag", even_tokens, any_area,
     [](const WindowFacts& w) { return w.mean() * (1 + 3.0 * w.cp / w.tokens); }},
    {"striped", [](const WindowFacts& w) { return w.even() + kBlock; }, any_area,
     [](const WindowFacts& w) { return w.mean() * (1 + 3.0 * kBlock * w.cp / w.tokens); }},
    {"per_document_zigzag", even_tokens, [](const WindowFacts& w) { return w.mean() + 1.5 * w.tokens; },
     [](const WindowFacts& w) { return w.mean() * (1 + 3.0 * w.cp / w.tokens); }},
    {"adaptive", [](const WindowFacts& w) { return static_cast<double>(w.cap); },
     [](const WindowFacts& w) { return w.mean() + 257.5 * w.tokens; }, any_area},
    {"whole_document", [](const WindowFacts& w) { return static_cast<double>(w.cap); },
     [](const WindowFacts& w) {
       return w.cap >= w.tokens ? w.mean() + w.largest_area * (1 - 1.0 / w.cp) : w.area;
     },
     any_area},
};

std::vector<int64_t> random_lengths(RandomStream& random) {
  std::vector<int64_t> lengths(random.below(9));
  for (int64_t& length : lengths) {
    const uint64_t scale = uint64_t{1} << random.below(9);
    length = static_cast<int64_t>(random.below(scale + 1));  // often 0 or 1
  }
  return lengths;
}

WindowFacts facts_of(const std::vector<int64_t>& lengths, int32_t cp, int64_t cap) {
  WindowFacts w;
  w.cp = cp;
  w.cap = cap;
  w.documents = static_cast<int64_t>(lengths.size());
  for (int64_t length : lengths) {
    const double own = 0.5 * static_cast<double>(length) * static_cast<double>(length + 1);
    w.tokens += length;
    w.longest = std::max(w.longest, length);
    w.area += own;
    w.largest_area = std::max(w.largest_area, own);
  }
  return w;
}

// Every token once; each rank's ranges in order, not empty, not touching.
void expect_partition(const Placement& placement, const std::vector<int64_t>& lengths, int32_t cp) {
  ASSERT_EQ(placement.cp(), cp);
  std::vector<std::vector<int>> held;
  for (int64_t length : lengths) held.emplace_back(length, 0);
  for (int32_t rank = 0; rank < cp; ++rank) {
    const HeldRange* before = nullptr;
    for (const HeldRange& range : placement.of(rank)) {
      ASSERT_FALSE(range.range.empty());
      ASSERT_LE(range.range.end, lengths[range.document]);
      if (before != nullptr) {
        ASSERT_TRUE(before->document < range.document ||
                    (before->document == range.document && before->range.end < range.range.begin));
      }
      for (int64_t at = range.range.begin; at < range.range.end; ++at) ++held[range.document][at];
      before = &range;
    }
  }
  for (const auto& document : held)
    ASSERT_TRUE(std::all_of(document.begin(), document.end(), [](int n) { return n == 1; }));
}

// Summed token by token: position p sees p + 1 keys.
double causal_area(const Placement& placement, int32_t rank) {
  double sum = 0;
  for (const HeldRange& held : placement.of(rank)) {
    for (int64_t at = held.range.begin; at < held.range.end; ++at) sum += static_cast<double>(at + 1);
  }
  return sum;
}

void expect_promise(const Promise& promise, const std::vector<int64_t>& lengths, int32_t cp, int64_t cap) {
  ShardInput input{lengths, cp, Mask::causal(), {kBlock, cap}};
  const Placement placement = shard_window(promise.sharder, input);
  expect_partition(placement, lengths, cp);
  const WindowFacts w = facts_of(lengths, cp, cap);
  constexpr double kRounding = 1 + 1e-12;
  for (int32_t rank = 0; rank < cp; ++rank) {
    const double area = causal_area(placement, rank);
    ASSERT_LE(static_cast<double>(placement.tokens(rank)), promise.most_tokens(w));
    ASSERT_LE(area, promise.most_area(w) * kRounding);
    if (w.documents == 1 && w.tokens > 0) {
      ASSERT_LE(area, promise.most_area_of_one(w) * kRounding);
    }
  }
}

TEST(ShardProperty, EverySharderHasARow) {
  std::vector<std::string> with_row, all;
  for (const Promise& promise : kPromises) with_row.push_back(promise.sharder);
  for (const SharderInfo& info : sharders()) all.push_back(info.name);
  std::sort(with_row.begin(), with_row.end());
  std::sort(all.begin(), all.end());
  EXPECT_EQ(with_row, all);
}

TEST(ShardProperty, RandomWindowsKeepThePromise) {
  constexpr uint64_t kSeed = 11;
  RandomStream random(kSeed);
  SCOPED_TRACE(testing::Message() << "seed " << kSeed);
  for (int i = 0; i < 3000; ++i) {
    const std::vector<int64_t> lengths = random_lengths(random);
    const int32_t cp = static_cast<int32_t>(1 + random.below(i % 10 == 0 ? 64 : 9));
    const int64_t tokens = std::accumulate(lengths.begin(), lengths.end(), int64_t{0});
    const int64_t least = std::max<int64_t>(1, (tokens + cp - 1) / cp);
    const int64_t cap = least + static_cast<int64_t>(random.below(static_cast<uint64_t>(tokens) + 2));
    for (const Promise& promise : kPromises) {
      SCOPED_TRACE(testing::Message() << promise.sharder << " cp " << cp << " cap " << cap << " lengths "
                                      << testing::PrintToString(lengths));
      expect_promise(promise, lengths, cp, cap);
      if (HasFatalFailure()) return;
    }
  }
}

TEST(ShardProperty, EveryLengthOfOneDocumentKeepsThePromise) {
  for (const Promise& promise : kPromises) {
    for (int32_t cp = 1; cp <= 9; ++cp) {
      for (int64_t length = 0; length <= 120; ++length) {
        SCOPED_TRACE(testing::Message() << promise.sharder << " cp " << cp << " length " << length);
        expect_promise(promise, {length}, cp, std::max<int64_t>(1, length));
        if (HasFatalFailure()) return;
      }
    }
  }
}

TEST(ShardProperty, DocumentsOfFourAndTwelveAreFortyFourEach) {
  const std::vector<int64_t> lengths{4, 12};
  const Placement placement = shard_window("per_document_zigzag", {lengths, 2, Mask::causal(), {}});
  EXPECT_EQ(causal_area(placement, 0), 44);
  EXPECT_EQ(causal_area(placement, 1), 44);
}

TEST(ShardProperty, LeftOverTokensAreDealtOnFromDocumentToDocument) {
  // Eight documents of one token on four ranks: two each.
  const std::vector<int64_t> lengths(8, 1);
  const Placement placement = shard_window("per_document_zigzag", {lengths, 4, Mask::causal(), {}});
  for (int32_t rank = 0; rank < 4; ++rank) EXPECT_EQ(placement.tokens(rank), 2);
}

TEST(ShardProperty, TokenCapThatCannotHoldIsRefusedWithTheNearestLegalOne) {
  const std::vector<int64_t> lengths{100, 101};
  try {
    shard_window("whole_document", {lengths, 4, Mask::causal(), {0, 50}});
    FAIL() << "not refused";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kInfeasible);
    EXPECT_NE(std::string(error.what()).find("token_cap 50"), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find("nearest legal: 51"), std::string::npos) << error.what();
  }
  EXPECT_NO_THROW(shard_window("whole_document", {lengths, 4, Mask::causal(), {0, 51}}));
}

TEST(ShardProperty, UnknownSharderNamesTheKnownOnes) {
  const std::vector<int64_t> lengths{4};
  try {
    shard_window("zig_zag", {lengths, 2, Mask::causal(), {}});
    FAIL() << "not refused";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kUsage);
    EXPECT_NE(std::string(error.what()).find("per_document_zigzag"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace counterpoise
