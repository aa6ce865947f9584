// SPDX-License-Identifier: Apache-2.0
// CSV and TSV in their three kinds: plain, weighted, binned.
#include <gtest/gtest.h>

#include "length_files.h"

namespace counterpoise {
namespace {

using Values = std::vector<int64_t>;

struct Bins {
  std::vector<int64_t> lo, hi;
  std::vector<double> weight;
  bool operator==(const Bins&) const = default;
};

Bins bins_of(const Lengths& lengths) {
  Bins bins;
  for (const LengthBin& bin : lengths.bins) {
    bins.lo.push_back(bin.lo);
    bins.hi.push_back(bin.hi);
    bins.weight.push_back(bin.weight);
  }
  return bins;
}

struct Good {
  std::string content;
  Values values;
  const char* field = "";
};

TEST(LengthsCsv, ReadsAColumn) {
  const Good cases[] = {
      {"ContextTokens,GeneratedTokens\n374,44\n396,109\n", {374, 396}},
      {"\xef\xbb\xbfid\tLength\r\nx\t5\r\n\r\ny\t0\r\n", {5, 0}},
      {"id;num tokens\n1;7\n", {7}},
      {"\"id\",\"token_count\"\n\"a,b\n\"\"c\"\"\",\"12\"\n \"d\" , 13.0\n", {12, 13}},
      {"whatever\n3\n4\n", {3, 4}},
      {"whatever\n3\n4", {3, 4}},
      {"a,b,c\n1,2,3\n4,5,6\n", {2, 5}, "b"},
      {"1,2\n3,4\n", {2, 4}, "2"},
      {"length,num_tokens\n1,2\n", {1}},
      {"length,count\n1,2\n", {2}, "count"},
      {"lo,hi,count\n1,2,9\n", {2}, "hi"},
  };
  for (const Good& good : cases) {
    SCOPED_TRACE(good.content);
    const Lengths lengths = LengthFile("a.csv", good.content).read({good.field, ""});
    EXPECT_EQ(lengths.corpus, good.values);
    EXPECT_EQ(lengths.format, "csv");
  }
  EXPECT_EQ(LengthFile("noext", "id,length\n1,5\n").read().corpus, Values{5});
  EXPECT_EQ(LengthFile("noext", "length\n5\n").read().corpus, Values{5});
}

TEST(LengthsCsv, CountsGiveBinsOfOneLength) {
  const LengthFile counts("a.csv", "length,count\n7,2\n3,1\n7,4\n9,0\n0,1\n");
  const Lengths lengths = counts.read();
  EXPECT_EQ(lengths.format, "weighted_csv");
  EXPECT_EQ(bins_of(lengths), (Bins{{0, 3, 7}, {0, 3, 7}, {1, 1, 6}}));
  EXPECT_EQ(lengths.documents, 8);

  const Lengths shares = LengthFile("a.csv", "seq_len,weight\n7,0.25\n3,0.75\n").read();
  EXPECT_EQ(bins_of(shares), (Bins{{3, 7}, {3, 7}, {0.75, 0.25}}));
  EXPECT_FALSE(shares.documents.has_value());

  const Lengths headerless = LengthFile("a.csv", "7,2\n3,1\n").read({"", "weighted_csv"});
  EXPECT_EQ(bins_of(headerless), (Bins{{3, 7}, {3, 7}, {1, 2}}));
}

TEST(LengthsCsv, RangesGiveBins) {
  const LengthFile file(
      "a.csv", "range,number,percentage(%)\n\"[0, 10]\",5,50\n\"[11, 50]\",3,30\n\"(50, 60)\",2,20\n");
  const Lengths lengths = file.read();
  EXPECT_EQ(lengths.format, "binned_csv");
  EXPECT_EQ(bins_of(lengths), (Bins{{0, 11, 51}, {10, 50, 59}, {5, 3, 2}}));
  EXPECT_EQ(lengths.documents, 10);
  EXPECT_EQ(bins_of(LengthFile("a.csv", "lo,hi,weight\n5,9,0.5\n1,4,1.5\n").read()),
            (Bins{{1, 5}, {4, 9}, {1.5, 0.5}}));
}

struct Bad {
  std::string content;
  const char* words;
  const char* field = "";
  const char* format = "";
};

TEST(LengthsCsv, RefusesWithPlaceAndReason) {
  const Bad cases[] = {
      {"\n\n", "a.csv: holds no lengths"},
      {"length\n", "a.csv: holds no lengths"},
      {"id,size\n1,2\n", "a.csv:1: no column of lengths among id, size; name one with --field"},
      {"id,size\n1,2\n", "a.csv:1: no column \"length\"; the columns are id, size", "length"},
      {"1,2\n", "a.csv:1: 2 columns and no header line; pick one with --field 1..2"},
      {"1,2\n", "--field must be a column number 1..2, not \"3\"", "3"},
      {"id,length\n1,2\n3\n", "a.csv:3: 1 cells where the first line has 2"},
      {"id,length\n1,2\n3,4,5\n", "a.csv:3: 3 cells where the first line has 2"},
      {"id,length\n1,\n", "a.csv:2: \"\" is not a length"},
      {"id,length\n\"x\n\",1\n3,-4\n", "a.csv:4: negative length -4"},
      {"id,length\n\"x,1\n3,4\n", "a.csv:2: a quoted cell is never closed"},
      {"id,length\n\"x\"y,1\n", "a.csv:2: text after a closing quote"},
      {"length,count\n1,x\n", "a.csv:2: \"x\" is not a count"},
      {"length,count\n1,-1\n", "a.csv:2: negative count or weight -1"},
      {"length,count\n1,inf\n", "a.csv:2: \"inf\" is not a count"},
      {"length,count\n1,0\n", "all counts are zero"},
      {"length,count\n1,1e308\n2,1e308\n", "add up to infinity"},
      {"length,size\n1,2\n", "a.csv:1: no column count; the columns are length, size", "", "weighted_csv"},
      {"range,number\n\"[5, 4]\",1\n", "a.csv:2: the range 5..4 is empty"},
      {"range,number\n\"[5, 6)\",1\n\"(5, 6)\",1\n", "a.csv:3: the range 6..5 is empty"},
      {"range,number\n5-6,1\n", "a.csv:2: \"5-6\" is not a range"},
      {"range,number\n\"[0, 10]\",1\n\"[10, 20]\",1\n", "a.csv: the ranges 0..10 and 10..20 overlap"},
      {"range,number\n\"[-5, 10]\",1\n", "a.csv:2: negative length -5"},
      {"range,size\n\"[5, 10]\",1\n", "a.csv:1: no column count", "", "binned_csv"},
  };
  for (const Bad& bad : cases) {
    SCOPED_TRACE(bad.content);
    const LengthFile file("a.csv", bad.content);
    expect_refused(ErrorKind::kBadInput, bad.words, [&] { file.read({bad.field, bad.format}); });
  }
}

}  // namespace
}  // namespace counterpoise
