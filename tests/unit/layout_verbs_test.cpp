// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <numeric>

#include "counterpoise/layout.h"

namespace counterpoise {
namespace {

using Ints = std::vector<int64_t>;

WindowPlan window_of(const Ints& lengths, int32_t cp, const char* sharder) {
  PlanRequest request;
  request.groups.emplace_back().emplace_back();
  for (int64_t length : lengths) request.groups[0][0].push_back({0, length});
  request.cp = cp;
  request.sharder = sharder;
  return make_plan(request).groups[0].windows[0];
}

Ints count_up(int64_t n) {
  Ints values(n);
  std::iota(values.begin(), values.end(), 0);
  return values;
}

TEST(LayoutVerbs, PositionsAreInWindowOrder) {
  const WindowPlan window = window_of({4, 4}, 2, "per_document_zigzag");
  EXPECT_EQ(local_positions(window, 0), (Ints{0, 3, 0, 3}));
  EXPECT_EQ(local_positions(window, 1), (Ints{1, 2, 1, 2}));
  EXPECT_EQ(global_indices(window, 0), (Ints{0, 3, 4, 7}));
  EXPECT_EQ(local_cu_seqlens(window, 0), (Ints{0, 2, 4}));
  EXPECT_EQ(window_cu_seqlens(window), (Ints{0, 4, 8}));
}

TEST(LayoutVerbs, ZigzagOfTheWindowCutsAcrossDocuments) {
  const WindowPlan window = window_of({4, 4}, 2, "zigzag");
  EXPECT_EQ(local_positions(window, 0), (Ints{0, 1, 2, 3}));
  EXPECT_EQ(global_indices(window, 0), (Ints{0, 1, 6, 7}));
  EXPECT_EQ(local_cu_seqlens(window, 0), (Ints{0, 2, 4}));
}

TEST(LayoutVerbs, EmptyDocumentsAndRanksWithoutTokens) {
  const WindowPlan window = window_of({0, 2, 0}, 4, "per_document_zigzag");
  EXPECT_EQ(local_tokens(window, 0), 1);
  EXPECT_EQ(local_tokens(window, 3), 0);
  EXPECT_EQ(local_cu_seqlens(window, 0), (Ints{0, 0, 1, 1}));
  EXPECT_EQ(local_cu_seqlens(window, 3), (Ints{0, 0, 0, 0}));
  EXPECT_TRUE(local_positions(window, 3).empty());
  EXPECT_TRUE(shard(window, 3, Ints{8, 9}).empty());
  EXPECT_EQ(window_tokens(window_of({}, 3, "zigzag")), 0);
}

TEST(LayoutVerbs, GatherUndoesShardForEverySharder) {
  const Ints lengths{7, 10, 17, 698, 0};
  for (const char* sharder : {"contiguous", "zigzag", "striped", "per_document_zigzag", "whole_document"}) {
    for (const int32_t cp : {1, 2, 3, 4}) {
      SCOPED_TRACE(testing::Message() << sharder << " cp " << cp);
      const WindowPlan window = window_of(lengths, cp, sharder);
      const Ints whole = count_up(window_tokens(window) * 3);
      Ints back(whole.size(), -1);
      int64_t tokens = 0;
      for (int32_t rank = 0; rank < cp; ++rank) {
        const Ints local = shard(window, rank, whole, 3);
        tokens += local_tokens(window, rank);
        EXPECT_EQ(local_cu_seqlens(window, rank).back(), local_tokens(window, rank));
        gather(window, rank, local, back, 3);
      }
      EXPECT_EQ(tokens, window_tokens(window));
      EXPECT_EQ(back, whole);
    }
  }
}

TEST(LayoutVerbs, ShardOfTheIndicesIsTheGlobalIndices) {
  for (const int32_t cp : {2, 4}) {
    const WindowPlan window = window_of({7, 10, 17, 698}, cp, "per_document_zigzag");
    const Ints whole = count_up(window_tokens(window));
    for (int32_t rank = 0; rank < cp; ++rank)
      EXPECT_EQ(shard(window, rank, whole), global_indices(window, rank));
  }
}

TEST(LayoutVerbs, LocalLengthsOfSevenTenSeventeen) {
  const WindowPlan window = window_of({7, 10, 17, 698}, 2, "per_document_zigzag");
  // Left-over tokens of 7 (3), 10 (2), 17 (1), 698 (2) go to ranks 0 1 0 | 1 0 | 1 | 0 1.
  EXPECT_EQ(local_cu_seqlens(window, 0), (Ints{0, 4, 9, 17, 366}));
  EXPECT_EQ(local_cu_seqlens(window, 1), (Ints{0, 3, 8, 17, 366}));
  EXPECT_EQ(local_tokens(window, 0) + local_tokens(window, 1), 732);
}

TEST(LayoutVerbs, LabelsAreShiftedBeforeSharding) {
  const WindowPlan window = window_of({3, 1, 2}, 2, "per_document_zigzag");
  const Ints tokens{10, 11, 12, 20, 30, 31};
  const Ints labels = next_token_labels(window, tokens);
  EXPECT_EQ(labels, (Ints{11, 12, kIgnoreLabel, kIgnoreLabel, 31, kIgnoreLabel}));
  for (int32_t rank = 0; rank < 2; ++rank) {
    const Ints indices = global_indices(window, rank);
    const Ints local = shard(window, rank, labels);
    for (size_t i = 0; i < local.size(); ++i) EXPECT_EQ(local[i], labels[indices[i]]);
  }
}

TEST(LayoutVerbs, RollStaysInsideDocuments) {
  const WindowPlan window = window_of({3, 0, 2}, 2, "zigzag");
  const Ints whole{1, 2, 3, 4, 5};
  EXPECT_EQ(roll<int64_t>(window, whole, 1, 0), (Ints{2, 3, 0, 5, 0}));
  EXPECT_EQ(roll<int64_t>(window, whole, -1, 0), (Ints{0, 1, 2, 0, 4}));
  EXPECT_EQ(roll<int64_t>(window, whole, 5, 0), (Ints{0, 0, 0, 0, 0}));
}

TEST(LayoutVerbs, RollSourcesSayWhereTheRowsAre) {
  for (const char* sharder : {"zigzag", "per_document_zigzag", "striped"}) {
    for (const int64_t shift : {1, 2, -1}) {
      const WindowPlan window = window_of({7, 10, 17}, 4, sharder);
      const Ints whole = count_up(window_tokens(window));
      const Ints rolled = roll<int64_t>(window, whole, shift, -1);
      std::vector<Ints> local;
      for (int32_t rank = 0; rank < 4; ++rank) local.push_back(shard(window, rank, whole));
      for (int32_t rank = 0; rank < 4; ++rank) {
        const Ints expected = shard(window, rank, rolled);
        const std::vector<TokenHome> sources = roll_sources(window, rank, shift);
        ASSERT_EQ(sources.size(), expected.size());
        for (size_t i = 0; i < sources.size(); ++i) {
          const int64_t value = sources[i].rank < 0 ? -1 : local[sources[i].rank][sources[i].row];
          EXPECT_EQ(value, expected[i]);
        }
      }
    }
  }
}

TEST(LayoutVerbs, LossIsSumOverCountNotMeanOfMeans) {
  const WindowPlan window = window_of({5, 1}, 2, "contiguous");
  const std::vector<double> losses{1, 2, 3, 4, 50, 60};
  const Ints labels = next_token_labels(window, {0, 1, 2, 3, 4, 5});
  LossParts all;
  double mean_of_means = 0;
  for (int32_t rank = 0; rank < 2; ++rank) {
    const LossParts part = loss_parts(shard(window, rank, losses), shard(window, rank, labels));
    all += part;
    mean_of_means += part.mean() / 2;
  }
  EXPECT_EQ(all.count, 4);
  EXPECT_DOUBLE_EQ(all.mean(), 2.5);
  EXPECT_NE(mean_of_means, 2.5);
  EXPECT_EQ(LossParts{}.mean(), 0);
}

TEST(LayoutVerbs, WrongSizesAndRanksAreRefused) {
  const WindowPlan window = window_of({4, 4}, 2, "zigzag");
  EXPECT_THROW(shard(window, 0, Ints{1, 2, 3}), Error);
  EXPECT_THROW(shard(window, 2, count_up(8)), Error);
  Ints whole(8);
  EXPECT_THROW(gather(window, 0, Ints{1}, whole), Error);
  EXPECT_THROW(roll<int64_t>(window, {1}, 1, 0), Error);
  EXPECT_THROW(loss_parts(std::vector<double>{1}, Ints{}), Error);
}

}  // namespace
}  // namespace counterpoise
