// SPDX-License-Identifier: Apache-2.0
// Damaged files: every reader either answers with a valid result or refuses with an Error that says why.
#include <gtest/gtest.h>

#include "counterpoise/error.h"
#include "counterpoise/length_summary.h"
#include "counterpoise/random.h"
#include "lengths/readers.h"
#include "unit/length_encodings.h"

namespace counterpoise {
namespace {

constexpr uint64_t kSeed = 20240611;

struct Sample {
  std::string name;
  std::string content;
};

std::vector<Sample> samples() {
  return {
      {"a.txt", "12\n7\n\n4096\r\n0\n99999\n"},
      {"a.json", "[12, 7,\n 4096, 0, 3.0]"},
      {"b.json", R"([{"length": 3, "x": [1, {"y": null}]}, {"length": 4, "t": "a\"b\u00e9"}])"},
      {"a.jsonl", "{\"input_length\": 12, \"o\": true}\n{\"o\": 1e3, \"input_length\": 4096}\n"},
      {"a.csv", "id,length\n\"a,\"\"b\"\"\",12\nb,7\nc,0\n"},
      {"b.csv", "length,count\n12,3\n7,1\n4096,2\n"},
      {"c.csv", "range,number\n\"[0, 10]\",5\n\"[11, 50]\",3\n\"(50, 60)\",2\n"},
      {"a.tsv", "lo\thi\tweight\n1\t4\t0.5\n5\t9\t1.5\n"},
      {"a.npy", npy_file("<i4", {12, 7, 4096, 0})},
      {"b.npy", npy_file(">u2", {12, 7, 4096, 0}, 2)},
      {"a.idx", MegatronFile{.sequences = {5, 7, 11}, .documents = {0, 1, 1, 3}}.str()},
  };
}

std::string mutated(std::string text, const std::vector<Sample>& pool, RandomStream& random) {
  const uint64_t changes = 1 + random.below(4);
  for (uint64_t i = 0; i < changes && !text.empty(); ++i) {
    const size_t at = random.below(text.size());
    const size_t size = 1 + random.below(8);
    switch (random.below(8)) {
      case 0:
        text[at] = static_cast<char>(random.below(256));
        break;
      case 1:
        text[at] = static_cast<char>(text[at] ^ (1 << random.below(8)));
        break;
      case 2:
        text.erase(at, size);
        break;
      case 3:
        text.insert(at, text.substr(random.below(text.size()), size));
        break;
      case 4:
        text.resize(at);
        break;
      case 5:
        text.insert(at, 1, "-.,:;\"'[]{}()\n\t 0123456789eE+\\"[random.below(31)]);
        break;
      case 6:
        text.replace(at, size, size, random.below(2) ? '\xff' : '\0');
        break;
      default: {
        const std::string& other = pool[random.below(pool.size())].content;
        text.insert(at, other.substr(random.below(other.size()), size));
      }
    }
  }
  return text;
}

void expect_valid(const Lengths& lengths) {
  ASSERT_NE(lengths.corpus.empty(), lengths.bins.empty());
  for (const int64_t length : lengths.corpus) ASSERT_TRUE(length >= 0 && length <= kMaxLength) << length;
  int64_t free = 0;
  for (const LengthBin& bin : lengths.bins) {
    ASSERT_TRUE(bin.lo >= free && bin.hi >= bin.lo && bin.hi <= kMaxLength) << bin.lo << ".." << bin.hi;
    ASSERT_TRUE(bin.weight > 0 && std::isfinite(bin.weight));
    free = bin.hi + 1;
  }
  // Whatever was accepted can be summed up and drawn from.
  const LengthSummary summary = summarise(lengths);
  ASSERT_TRUE(std::isfinite(summary.mean) && std::isfinite(summary.mean_square));
  ASSERT_LE(summary.quantiles.front().length, summary.max);
  RandomStream random(1);
  const int64_t drawn = LengthSampler(lengths).draw(random);
  ASSERT_TRUE(drawn >= summary.min && drawn <= summary.max);
}

// True where it was accepted.
bool read_one(const std::string& name, const std::string& content, const ReadOptions& options) {
  try {
    expect_valid(parse_lengths(name, content, options));
    return true;
  } catch (const Error& error) {
    EXPECT_TRUE(error.kind() == ErrorKind::kBadInput || error.kind() == ErrorKind::kUsage) << error.what();
    EXPECT_EQ(std::string_view(error.what()).find(options.field.empty() ? name : ""), 0u) << error.what();
    return false;
  }
}

TEST(LengthsMutation, DamagedFilesAreReadOrRefused) {
  RecordProperty("seed", std::to_string(kSeed));
  const std::vector<Sample> pool = samples();
  for (size_t s = 0; s < pool.size(); ++s) {
    const auto& [name, content] = pool[s];
    SCOPED_TRACE(fmt::format("{} of seed {}", name, kSeed));
    ASSERT_TRUE(read_one(name, content, {}));
    RandomStream random(kSeed, s);
    int accepted = 0;
    constexpr int kRounds = 3000;
    for (int round = 0; round < kRounds && !HasFatalFailure(); ++round)
      accepted += read_one(name, mutated(content, pool, random), {});
    EXPECT_GT(accepted, 0);        // the mutations are mild enough to reach deep into the readers
    EXPECT_LT(accepted, kRounds);  // and the readers do refuse
  }
}

TEST(LengthsMutation, EveryFormatIsForcedOnEveryFile) {
  const std::vector<Sample> pool = samples();
  RandomStream random(kSeed, 1000);
  for (const auto& [name, content] : pool)
    for (const char* format :
         {"text", "json", "jsonl", "csv", "weighted_csv", "binned_csv", "npy", "megatron_idx"})
      for (const char* field : {"", "length", "2"})
        for (int round = 0; round < 20; ++round)
          read_one("any", round == 0 ? content : mutated(content, pool, random), {field, format});
}

TEST(LengthsMutation, EveryTruncationOfABinaryFileIsRefused) {
  for (const auto& [name, content] : samples()) {
    if (!name.ends_with(".npy") && !name.ends_with(".idx")) continue;
    for (size_t size = 0; size < content.size(); ++size)
      EXPECT_FALSE(read_one(name, content.substr(0, size), {})) << name << " cut at " << size;
  }
}

TEST(LengthsMutation, DistributionTextIsReadOrRefused) {
  const std::vector<Sample> pool = {{"", "lognormal(median=3k,sigma=1.2,max=128k)"},
                                    {"", "mixture(0.9*pareto(min=1k,alpha=1.5,max=1M)+0.1*constant(128k))"},
                                    {"", "uniform(min=0,max=8k)"}};
  RandomStream random(kSeed, 2000);
  for (int round = 0; round < 2000; ++round) {
    const std::string text = mutated(pool[static_cast<size_t>(round) % pool.size()].content, pool, random);
    try {
      expect_valid(read_lengths("dist:" + text));
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kUsage) << error.what();
    }
  }
}

}  // namespace
}  // namespace counterpoise
