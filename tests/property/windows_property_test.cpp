// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <map>

#include "counterpoise/random.h"
#include "counterpoise/windows.h"

namespace counterpoise {
namespace {

constexpr PackPolicy kPolicies[] = {PackPolicy::kConcat, PackPolicy::kNextFit, PackPolicy::kBestFitDecreasing,
                                    PackPolicy::kOneDocument};
constexpr LongDocuments kLong[] = {LongDocuments::kSplit, LongDocuments::kTruncate, LongDocuments::kDrop};

std::vector<Document> random_documents(RandomStream& random, int64_t window) {
  std::vector<Document> documents(random.below(60));
  for (size_t i = 0; i < documents.size(); ++i) {
    const uint64_t top = static_cast<uint64_t>(window) * (random.below(4) == 0 ? 4 : 1) + 1;
    documents[i] = {static_cast<int64_t>(i), static_cast<int64_t>(random.below(top))};
  }
  return documents;
}

int64_t kept_length(int64_t length, int64_t window, LongDocuments policy) {
  if (length <= window || policy == LongDocuments::kSplit) return length;
  return policy == LongDocuments::kTruncate ? window : 0;
}

// The pieces of each document tile exactly the tokens its policy keeps, and no window overflows.
void expect_every_token_once(const std::vector<Document>& documents, const std::vector<Window>& windows,
                             const PackOptions& options) {
  std::map<int64_t, std::map<int64_t, int64_t>> placed;  // document -> begin -> length
  for (const Window& window : windows) {
    int64_t used = 0;
    for (const Piece& piece : window.pieces) {
      used += piece.length;
      const bool fresh =
          piece.length == 0 || placed[piece.document].emplace(piece.begin, piece.length).second;
      ASSERT_TRUE(fresh) << "document " << piece.document;
    }
    ASSERT_EQ(used + window.padding, options.window);
    ASSERT_GE(window.padding, 0);
  }
  for (const Document& document : documents) {
    int64_t end = 0;
    for (const auto& [begin, length] : placed[document.id]) {
      ASSERT_EQ(begin, end) << "document " << document.id;
      end += length;
    }
    ASSERT_EQ(end, kept_length(document.length, options.window, options.long_documents))
        << "document " << document.id;
  }
}

TEST(Windows, EveryTokenIsAccountedFor) {
  constexpr uint64_t kSeed = 23;
  SCOPED_TRACE(testing::Message() << "seed " << kSeed);
  RandomStream random(kSeed);
  for (int trial = 0; trial < 3000; ++trial) {
    PackOptions options;
    options.policy = kPolicies[random.below(4)];
    options.long_documents = kLong[random.below(3)];
    options.window = 1 + static_cast<int64_t>(random.below(40));
    options.look_ahead = 1 + static_cast<int64_t>(random.below(5));
    const std::vector<Document> documents = random_documents(random, options.window);
    PackAccount account;
    const std::vector<Window> windows = pack(documents, options, &account);
    ASSERT_NO_FATAL_FAILURE(expect_every_token_once(documents, windows, options));
    EXPECT_EQ(account.tokens, account.placed + account.truncated + account.dropped);
    EXPECT_EQ(account.pending(), 0);
    EXPECT_EQ(account.windows, static_cast<int64_t>(windows.size()));
    EXPECT_EQ(account.placed + account.padding, account.windows * options.window);
  }
}

TEST(Windows, ConcatPadsOnlyTheLastWindow) {
  PackOptions options;
  options.window = 10;
  const std::vector<Window> windows = pack({{0, 7}, {1, 25}, {2, 0}, {3, 1}}, options);
  ASSERT_EQ(windows.size(), 4u);
  EXPECT_EQ(windows[0].pieces[1].length, 3);
  EXPECT_EQ(windows[1].pieces[0].begin, 3);
  EXPECT_EQ(windows[3].pieces.back().document, 3);
  EXPECT_EQ(windows[2].padding, 0);
  EXPECT_EQ(windows[3].padding, 7);
}

TEST(Windows, BestFitPrefersTheFullestWindowThatHoldsTheDocument) {
  PackOptions options;
  options.policy = PackPolicy::kBestFitDecreasing;
  options.window = 10;
  const std::vector<Window> windows = pack({{0, 2}, {1, 6}, {2, 8}, {3, 4}}, options);
  ASSERT_EQ(windows.size(), 2u);
  EXPECT_EQ(windows[0].padding + windows[1].padding, 0);
}

}  // namespace
}  // namespace counterpoise
