// SPDX-License-Identifier: Apache-2.0
// Text, JSON and JSON Lines: what reads, and what is refused with which words.
#include <gtest/gtest.h>

#include "length_files.h"

namespace counterpoise {
namespace {

using Values = std::vector<int64_t>;

struct Good {
  const char* name;
  std::string content;
  const char* format;
  Values values;
  const char* field = "";
};

TEST(LengthsText, ReadsEveryFormOfTheFormats) {
  const Good cases[] = {
      {"a.txt", "3\n0\n5", "text", {3, 0, 5}},
      {"a", "3\r\n\r\n 5 \r\n", "text", {3, 5}},
      {"a",
       "\xef\xbb\xbf"
       "3\n",
       "text",
       {3}},
      {"a", "2048.0\n1e3\n", "text", {2048, 1000}},
      {"a", "2147483648\n", "text", {int64_t{1} << 31}},
      {"a.json", "[1, 2,\n 3.0]\n", "json", {1, 2, 3}},
      {"a", " [ 7 ] ", "json", {7}},
      {"a", R"([{"id": 1, "num_tokens": 4}, {"num_tokens": 5, "x": [1, {"length": 9}]}])", "json", {4, 5}},
      {"a.jsonl", "{\"length\": 4}\n\n{\"length\":0}\r\n", "jsonl", {4, 0}},
      {"a", "{\"input_length\": 7, \"output_length\": 5}", "jsonl", {7}},
      {"a", "{\"tokens\": [5, 6], \"token_count\": 2, \"meta\": {\"length\": 9}}", "jsonl", {2}},
      {"a", "{\"token_count\": 2, \"length\": 3}\n{\"length\": 4}\n", "jsonl", {3, 4}},
      {"a", "{\"n\\u0061\": 2}\n", "jsonl", {2}, "na"},
      {"a",
       "{\"x\": [[{}, null, true, \"\\n\"], 1e99, 123456789012345678901234567890], \"length\": 1}",
       "jsonl",
       {1}},
  };
  for (const Good& good : cases) {
    const Lengths lengths = LengthFile(good.name, good.content).read({good.field, ""});
    EXPECT_EQ(lengths.corpus, good.values) << good.content;
    EXPECT_EQ(lengths.format, good.format) << good.content;
    EXPECT_EQ(lengths.documents, static_cast<int64_t>(good.values.size())) << good.content;
    EXPECT_TRUE(lengths.bins.empty());
  }
}

struct Bad {
  const char* name;
  std::string content;
  const char* words;
  const char* field = "";
};

TEST(LengthsText, RefusesWithPlaceAndReason) {
  const Bad cases[] = {
      {"a.txt", "", "a.txt: is empty"},
      {"a.txt", "\n \n", "a.txt: holds no lengths"},
      {"a.txt", "1\n-2\n", "a.txt:2: negative length -2"},
      {"a.txt", "1\n\n2.5\n", "a.txt:3: length 2.5 is not a whole number"},
      {"a.txt", "1\ntwo\n", "a.txt:2: \"two\" is not a length"},
      {"a.txt", "1 2\n", "a.txt:1: \"1 2\" is not a length"},
      {"a.txt", "nan\n", "a.txt:1: a length is missing"},
      {"a.txt", "inf\n", "a.txt:1: length inf is above the limit of 2,147,483,648 tokens"},
      {"a.txt", "2147483649\n", "a.txt:1: length 2147483649 is above the limit"},
      {"a.txt", "99999999999999999999999\n", "a.txt:1: length 1e+23 is above the limit"},
      {"a.txt", std::string("1\n2\0\n", 5), "a.txt:2: \"2\\x00\" is not a length"},
      {"a.json", "[]", "a.json: holds no lengths"},
      {"a.json", "[1, 2", "a.json: byte "},
      {"a.json", "[1, 2,]", "a.json: byte "},
      {"a.json", "[1, -2]", "a.json: byte 4: negative length -2"},
      {"a.json", "[1, 2.5]", "a.json: byte 4: length 2.5 is not a whole number"},
      {"a.json", "[1, \"2\"]", "a.json: byte 4: \"\\\"2\\\"\" is not a length"},
      {"a.json", "[1, null]", "a.json: byte 4: \"null\" is not a length"},
      {"a.json", "[1, [2]]", "a.json: byte 4: "},
      {"a.json", "[1, 99999999999999999999999]", "a.json: byte 4: length 1e+23 is above the limit"},
      {"a.json", "[1] [2]", "a.json: byte 4: broken JSON"},
      {"a.json", "[01]", "a.json: byte 1: broken JSON"},
      {"a.json", "7", "a.json: byte 0: a JSON list of lengths was expected"},
      {"a.json", "[1, \xff]", "a.json: byte "},
      {"a.json", "[{\"length\": 1}, {\"size\": 2}]", "no field \"length\" in this object"},
      {"a.jsonl", "{\"length\": 1}\n{\"size\": 2}\n", "a.jsonl:2: no field \"length\" in this object"},
      {"a.jsonl", "{\"size\": 1}\n", "a.jsonl:1: no length in this object"},
      {"a.jsonl", "{\"length\": 1}\n", "a.jsonl:1: no field \"size\" in this object", "size"},
      {"a.jsonl", "{\"length\": 1}\n{\"length\": 2\n", "a.jsonl:2: broken JSON"},
      {"a.jsonl", "{\"length\": 1} {\"length\": 2}\n", "a.jsonl:1: broken JSON"},
      {"a.jsonl", "{\"length\": 1, \"x\": tru}\n", "a.jsonl:1: broken JSON"},
      {"a.jsonl", "{\"length\": 1, \"x\": [1 2]}\n", "a.jsonl:1: broken JSON"},
      {"a.jsonl", "{\"length\": 1, \"x\": \"\\q\"}\n", "a.jsonl:1: broken JSON"},
      {"a.jsonl", "{\"length\": 1}\n{\"length\": 2, \"length\": 3}\n",
       "a.jsonl:2: the field \"length\" appears twice"},
      {"a.jsonl", "{\"length\": 1}\n17\n", "a.jsonl:2: a JSON object with a length was expected, not \"17\""},
      {"a.jsonl", "{\"length\": \"long\"}\n", "a.jsonl:1: \"\\\"long\\\"\" is not a length", "length"},
      {"a.jsonl", "{\"length\": -1}\n", "a.jsonl:1: negative length -1"},
      {"a.jsonl", "{\"length\": 1, \"x\": " + std::string(5000, '[') + std::string(5000, ']') + "}",
       "a.jsonl:1: broken JSON"},
  };
  for (const Bad& bad : cases) {
    SCOPED_TRACE(bad.content.substr(0, 60));
    const LengthFile file(bad.name, bad.content);
    expect_refused(ErrorKind::kBadInput, bad.words, [&] { file.read({bad.field, ""}); });
  }
}

TEST(LengthsText, OptionsThatCannotApplyAreUsageErrors) {
  const LengthFile text("a.txt", "1\n2\n");
  expect_refused(ErrorKind::kUsage, "--field: ", [&] { text.read({"x", ""}); });
  expect_refused(ErrorKind::kUsage, "'yaml' is unknown; choose one of text, json,", [&] {
    text.read({"", "yaml"});
  });
  expect_refused(ErrorKind::kUsage, "preset:magi is none", [&] { read_lengths("preset:magi", {"x", ""}); });
  EXPECT_EQ(text.read({"", "csv"}).corpus, (Values{1, 2}));
  expect_refused(ErrorKind::kBadInput, "a.txt: byte 0", [&] { text.read({"", "json"}); });
  expect_refused(ErrorKind::kBadInput, "/nonexistent/file: cannot open",
                 [] { read_lengths("/nonexistent/file"); });
  expect_refused(ErrorKind::kBadInput, "is a folder", [] { read_lengths("/tmp"); });
}

}  // namespace
}  // namespace counterpoise
