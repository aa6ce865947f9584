// SPDX-License-Identifier: Apache-2.0
#include "counterpoise/profile_prices.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "counterpoise/error.h"
#include "counterpoise/kernel_profile.h"
#include "plan/call_tiles.h"

namespace counterpoise {
namespace {

const std::optional<Links> kNoLinks;

Tile tile(int32_t document, Range q, Range kv, int32_t heads = 1) {
  return {document, 0, q, kv, {0, heads}, 0, 0, 0, -1};
}

double attend(const std::string& profile, const AttentionShape& shape, int64_t length,
              const std::vector<Tile>& tiles, bool backward = false) {
  const std::vector<PlanDocument> documents = {{0, length}};
  return ProfilePrices(load_profile(profile), kNoLinks, 0).attend(shape, documents, tiles, backward);
}

TEST(ProfilePrices, AreaCountsThePairsOfOneHead) {
  const AttentionShape shape{4, 2, 64, 64, 2};
  EXPECT_EQ(attend("area", shape, 10, {tile(0, {0, 10}, {0, 10}, 4)}), 55);
  EXPECT_EQ(attend("area", shape, 10, {tile(0, {0, 10}, {0, 10}, 2)}), 27.5);  // half the heads
}

TEST(ProfilePrices, AWholeDocumentCostsWhatTheProfileSaysOfIt) {
  const ProfilePtr profile = load_profile("h100-fa3");  // of one head of 128
  for (const int64_t length : {100, 5000, 40000}) {
    const double seconds = profile->piece_time(length, 1);
    EXPECT_NEAR(attend("h100-fa3", {1, 1, 128, 128, 2}, length, {tile(0, {0, length}, {0, length})}), seconds,
                1e-12 * seconds);
    EXPECT_NEAR(attend("h100-fa3", {32, 8, 64, 64, 2}, length, {tile(0, {0, length}, {0, length}, 32)}),
                16 * seconds, 16e-12 * seconds);
  }
}

// The zigzag shares of a document, each in one call, cost together what the profile says of the cut document.
TEST(ProfilePrices, SharesOfADocumentCostWhatTheProfileSaysOfThem) {
  const int64_t length = 8192, cp = 4, slice = length / (2 * cp);
  double sum = 0;
  for (int64_t rank = 0; rank < cp; ++rank) {
    const int64_t head = rank * slice, tail = length - (rank + 1) * slice;
    sum += attend(
        "h100-fa3", {1, 1, 128, 128, 2}, length,
        {tile(0, {head, head + slice}, {0, head + slice}), tile(0, {tail, tail + slice}, {0, tail + slice})});
  }
  const double expected = 4 * load_profile("h100-fa3")->piece_time(length, cp);
  EXPECT_NEAR(sum, expected, 1e-12 * expected);
}

TEST(ProfilePrices, CallsOfAKernelProfileArePricedAsCalls) {
  const KernelProfilePtr profile = load_kernel_profile("a100");
  const CostShape heads{8, 2, 128, 128, 2};
  const std::vector<WorkShape> works = {{100, 300, 25050, heads, 300}, {50, 1000, 48775, heads, 700}};
  const std::vector<Tile> tiles = {tile(0, {200, 300}, {0, 300}, 8), tile(0, {950, 1000}, {0, 1000}, 8)};
  const AttentionShape shape{8, 2, 128, 128, 2};
  EXPECT_EQ(attend("a100", shape, 1000, tiles), profile->call_seconds(works));
  EXPECT_EQ(attend("a100", shape, 1000, tiles, true), profile->call_seconds(works, Direction::kBackward));
}

TEST(ProfilePrices, ABackwardThatTheProfileDoesNotKnowIsRefused) {
  for (const char* profile : {"area", "h100-fa3", "h100-varlen"}) {
    try {
      attend(profile, {1, 1, 128, 128, 2}, 9, {tile(0, {0, 9}, {0, 9})}, true);
      ADD_FAILURE() << profile;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kUsage);
    }
  }
}

TEST(CallTiles, RowsAndKeysOfADocumentCountOnce) {
  const AttentionShape shape{1, 1, 8, 8, 4, Mask::full()};
  const std::vector<PlanDocument> documents = {{0, 40}, {0, 20}};
  const std::vector<Tile> tiles = {tile(0, {0, 10}, {0, 5}),   tile(1, {0, 4}, {2, 9}),
                                   tile(0, {0, 10}, {8, 12}),  tile(0, {20, 25}, {3, 10}),
                                   tile(0, {22, 30}, {0, 40}), tile(1, {0, 4}, {2, 9})};
  const std::vector<CallTile> call = call_tiles(shape, documents, tiles);
  const int64_t new_keys[] = {5, 7, 4, 3, 28, 0};
  for (size_t i = 0; i < tiles.size(); ++i) {
    EXPECT_EQ(call[i].work.new_kv_rows, new_keys[i]) << i;
    EXPECT_EQ(call[i].work.q_rows, tiles[i].q.size()) << i;
    EXPECT_EQ(call[i].work.area, tiles[i].q.size() * tiles[i].kv.size()) << i;
    EXPECT_EQ(call[i].length, documents[static_cast<size_t>(tiles[i].document)].length) << i;
    EXPECT_EQ(call[i].rows, tiles[i].document == 0 ? 20 : 4) << i;
  }
}

Links two_levels() {
  const auto level = [](const char* name, std::vector<LinkLine> lines) {
    return LinkLevel{name, {{Collective::kSendRecv, 2, std::move(lines), 0, 0}}};
  };
  Links links;
  links.name = "two";
  links.levels = {level("node", {{1e-6, 1e-9}, {1e-5, 1e-10}}), level("network", {{1e-3, 1e-8}})};
  return links;
}

TEST(ProfilePrices, MessagesTakeTheFastestLineOfTheirLevel) {
  const ProfilePtr profile = load_profile("h100-fa3");
  const ProfilePrices prices(profile, two_levels(), 4);
  EXPECT_EQ(prices.link(0, 3, 9000).latency, 1e-6);   // 10 us against 10.9 us
  EXPECT_EQ(prices.link(0, 3, 11000).latency, 1e-5);  // 12 us against 11.1 us
  EXPECT_EQ(prices.link(3, 4, 9000).latency, 1e-3);
  EXPECT_DOUBLE_EQ(prices.link(3, 4, 9000).bytes_per_second, 1e8);
  EXPECT_EQ(ProfilePrices(profile, two_levels(), 0).link(3, 4, 9000).latency, 1e-6);
  const Link free = ProfilePrices(profile, kNoLinks, 0).link(0, 1, 9000);
  EXPECT_EQ(free.latency, 0);
  EXPECT_EQ(9000 / free.bytes_per_second, 0);
}

TEST(ProfilePrices, LinksThatCannotPriceAMessageAreRefused) {
  const ProfilePtr seconds = load_profile("h100-fa3");
  EXPECT_THROW(ProfilePrices(load_profile("area"), two_levels(), 0), Error);
  EXPECT_THROW(ProfilePrices(seconds, load_links("h200-nccl"), 0), Error);
  EXPECT_THROW(ProfilePrices(seconds, two_levels(), -1), Error);
  const ProfilePrices one_node(seconds, load_links("h100-sendrecv"), 4);
  EXPECT_GT(one_node.link(4, 7, 1 << 20).bytes_per_second, 1e11);
  EXPECT_THROW(one_node.link(3, 4, 1 << 20), Error);
}

}  // namespace
}  // namespace counterpoise
