// SPDX-License-Identifier: Apache-2.0
// The summary of small sets, checked by hand, and of a sample against the distribution it came from.
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "counterpoise/length_summary.h"
#include "counterpoise/random.h"
#include "report/lengths_report.h"

namespace counterpoise {
namespace {

Lengths corpus(std::vector<int64_t> values) {
  Lengths lengths;
  lengths.format = "text";
  lengths.documents = static_cast<int64_t>(values.size());
  lengths.corpus = std::move(values);
  return lengths;
}

int64_t quantile(const LengthSummary& summary, double p) {
  for (const auto& entry : summary.quantiles)
    if (entry.p == p) return entry.length;
  ADD_FAILURE() << "no quantile " << p;
  return -1;
}

TEST(LengthSummary, OfFiveDocuments) {
  const LengthSummary summary = summarise(corpus({4, 0, 2, 8, 2}));
  EXPECT_EQ(summary.documents, 5);
  EXPECT_EQ(summary.tokens, 16);
  EXPECT_EQ(summary.zero_length, 1);
  EXPECT_DOUBLE_EQ(summary.zero_length_share, 0.2);
  EXPECT_DOUBLE_EQ(summary.mean, 3.2);
  EXPECT_DOUBLE_EQ(summary.mean_square, 17.6);  // 16 + 0 + 4 + 64 + 4 = 88
  EXPECT_DOUBLE_EQ(*summary.cv, std::sqrt(17.6 - 3.2 * 3.2) / 3.2);
  // Sum of fourth powers: 256 + 16 + 4096 + 16 = 4384.
  EXPECT_DOUBLE_EQ(*summary.squared_cv, std::sqrt(4384.0 / 5 - 17.6 * 17.6) / 17.6);
  EXPECT_EQ(summary.min, 0);
  EXPECT_EQ(summary.max, 8);
  EXPECT_EQ(quantile(summary, 0.01), 0);
  EXPECT_EQ(quantile(summary, 0.25), 2);
  EXPECT_EQ(quantile(summary, 0.5), 2);
  EXPECT_EQ(quantile(summary, 0.75), 4);
  EXPECT_EQ(quantile(summary, 0.9), 8);
  // One document, the longest, is the 1 % rounded up.
  EXPECT_DOUBLE_EQ(summary.longest->documents, 0.2);
  EXPECT_DOUBLE_EQ(summary.longest->tokens, 0.5);
  EXPECT_DOUBLE_EQ(summary.longest->squares, 64.0 / 88);
  EXPECT_FALSE(summary.tail.has_value());
  EXPECT_EQ(summary.no_tail, "fewer than 250 documents");

  ASSERT_EQ(summary.histogram.size(), 5u);  // 0 | 1 | 2 | 3..4 | 5..8
  const std::vector<double> squares = {0, 0, 8.0 / 88, 16.0 / 88, 64.0 / 88};
  for (size_t i = 0; i < 5; ++i) EXPECT_DOUBLE_EQ(summary.histogram[i].squares, squares[i]) << i;
  EXPECT_EQ(summary.histogram[3].lo, 3);
  EXPECT_EQ(summary.histogram[3].hi, 4);
  EXPECT_DOUBLE_EQ(summary.histogram[2].documents, 0.4);
  EXPECT_DOUBLE_EQ(summary.histogram[4].tokens, 0.5);
}

TEST(LengthSummary, OfZerosAndOfEqualLengths) {
  const LengthSummary zeros = summarise(corpus({0, 0, 0}));
  EXPECT_EQ(zeros.tokens, 0);
  EXPECT_EQ(zeros.zero_length, 3);
  EXPECT_FALSE(zeros.longest || zeros.cv || zeros.squared_cv || zeros.tail);
  const LengthSummary equal = summarise(corpus(std::vector<int64_t>(1000, 12345)));
  EXPECT_EQ(*equal.cv, 0);
  EXPECT_EQ(*equal.squared_cv, 0);
  EXPECT_DOUBLE_EQ(equal.longest->squares, 0.01);
  EXPECT_EQ(equal.no_tail, "all lengths are equal");
}

TEST(LengthSummary, SplitsABinOverTheHistogram) {
  Lengths lengths;
  lengths.bins = {{3, 6, 1.0}};
  const LengthSummary summary = summarise(lengths);
  EXPECT_FALSE(summary.documents || summary.tokens || summary.zero_length);
  ASSERT_EQ(summary.histogram.size(), 2u);
  EXPECT_DOUBLE_EQ(summary.histogram[0].documents, 0.5);
  EXPECT_DOUBLE_EQ(summary.histogram[0].tokens, 7.0 / 18);
  EXPECT_DOUBLE_EQ(summary.histogram[1].squares, 61.0 / 86);  // 25 + 36 of 9 + 16 + 25 + 36
  EXPECT_EQ(quantile(summary, 0.25), 3);
  EXPECT_EQ(quantile(summary, 0.5), 4);
  EXPECT_EQ(quantile(summary, 0.75), 5);
  EXPECT_EQ(quantile(summary, 1), 6);
  const double mean4 = (81 + 256 + 625 + 1296) / 4.0, mean2 = 86 / 4.0;
  EXPECT_DOUBLE_EQ(*summary.squared_cv, std::sqrt(mean4 - mean2 * mean2) / mean2);
}

// A corpus and its run lengths as counts are the same documents.
TEST(LengthSummary, CountsAndCorpusAgree) {
  const LengthSummary a = summarise(corpus({7, 3, 7, 0, 9, 3, 3}));
  Lengths counts;
  counts.bins = {{0, 0, 1}, {3, 3, 3}, {7, 7, 2}, {9, 9, 1}};
  counts.documents = 7;
  const LengthSummary b = summarise(counts);
  nlohmann::ordered_json first = lengths_json({}, a), second = lengths_json({}, b);
  EXPECT_EQ(first, second);
}

TEST(LengthSummary, OfASampleNearsTheDistribution) {
  const Lengths pareto = read_lengths("dist:pareto(min=100,alpha=2.5,max=10M)");
  const LengthSampler sampler(pareto);
  RandomStream random(7);
  std::vector<int64_t> sample(200000);
  for (int64_t& length : sample) length = sampler.draw(random);
  const LengthSummary drawn = summarise(corpus(std::move(sample))), exact = summarise(pareto);
  EXPECT_EQ(drawn.tail->k, 2000);
  // Standard error of Hill's estimate: index / sqrt(k) = 0.056.
  EXPECT_NEAR(drawn.tail->index, 2.5, 4 * 0.056);
  EXPECT_DOUBLE_EQ(drawn.tail->squared_index, drawn.tail->index / 2);
  EXPECT_NEAR(drawn.mean / exact.mean, 1, 0.01);
  for (const double p : {0.1, 0.5, 0.9})
    EXPECT_NEAR(1.0 * quantile(drawn, p) / quantile(exact, p), 1, 0.02) << p;
}

TEST(LengthSummary, CapAndLightTailsHaveNoIndex) {
  std::vector<int64_t> capped;
  for (int64_t i = 1; i <= 1000; ++i) capped.push_back(std::min<int64_t>(i, 950));
  EXPECT_EQ(summarise(corpus(capped)).no_tail,
            "cut at 950 tokens: 5.1 % of the documents have exactly this length");
  const LengthSummary light = summarise(read_lengths("dist:uniform(min=1,max=8k)"));
  EXPECT_FALSE(light.tail.has_value());
  EXPECT_EQ(light.no_tail.find("light: the longest document is only 1.01 times the p99"), 0u)
      << light.no_tail;
}

TEST(LengthSummary, SharesAddUpToOne) {
  for (const PresetInfo& preset : preset_list()) {
    const LengthSummary summary = summarise(read_lengths("preset:" + preset.name));
    double documents = 0, tokens = 0, squares = 0;
    for (const LengthSummary::Bin& bin : summary.histogram) {
      documents += bin.documents;
      tokens += bin.tokens;
      squares += bin.squares;
    }
    EXPECT_NEAR(documents, 1, 1e-9) << preset.name;
    EXPECT_NEAR(tokens, 1, 1e-9) << preset.name;
    EXPECT_NEAR(squares, 1, 1e-9) << preset.name;
  }
}

TEST(LengthReport, SaysWhatWasFound) {
  std::vector<int64_t> values(1000, 1000);
  values[17] = 100000;
  values[3] = 0;
  EXPECT_EQ(lengths_sentence(summarise(corpus(values))),
            "1,000 documents, 1.10M tokens; the longest 1 % hold 91 % of attention work (Σ length²); 1 of "
            "zero length.");
  EXPECT_EQ(lengths_sentence(summarise(corpus({5}))),
            "1 document, 5 tokens; the longest holds 100 % of attention work (Σ length²).");
  EXPECT_EQ(lengths_sentence(summarise(corpus({0, 0}))),
            "2 documents, 0 tokens; all are of zero length, so there is nothing to attend to.");
  const Lengths lengths = corpus({3, 5});
  const std::string text = lengths_text(lengths, summarise(lengths));
  EXPECT_NE(text.find("CV 0.25 of length, 0.47 of length²"), std::string::npos) << text;
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
}

}  // namespace
}  // namespace counterpoise
