// SPDX-License-Identifier: Apache-2.0
// Presets against the files they stand for.
#include <gtest/gtest.h>

#include <filesystem>
#include <map>

#include "counterpoise/length_summary.h"
#include "length_files.h"

namespace counterpoise {
namespace {

const std::map<std::string, std::string> kFiles = {
    {"wlbllm_mix", "wlbllm_mix.json"},     {"wikipedia", "wikipedia_400k.txt"},
    {"magi", "magi_histogram.csv"},        {"mooncake", "mooncake_conversation.jsonl"},
    {"azure_conv", "azure_conv_2023.csv"}, {"openchat_sft", "openchat_sft.json"},
};

std::string data_file(const std::string& name) {
  return std::string(COUNTERPOISE_DATA) + "/lengths/" + name;
}

TEST(LengthsPreset, IsListedNamedAndWellFormed) {
  ASSERT_EQ(preset_list().size(), kFiles.size());
  for (const PresetInfo& preset : preset_list()) {
    SCOPED_TRACE(preset.name);
    const Lengths lengths = read_lengths("preset:" + preset.name);
    EXPECT_EQ(lengths.source, "preset:" + preset.name);
    EXPECT_EQ(lengths.format, "preset");
    EXPECT_EQ(lengths.provenance, preset.source);
    EXPECT_FALSE(lengths.documents.has_value());
    EXPECT_LE(lengths.bins.size(), 150u);
    int64_t free = 0;
    for (const LengthBin& bin : lengths.bins) {
      EXPECT_GE(bin.lo, free);
      EXPECT_GE(bin.hi, bin.lo);
      EXPECT_GT(bin.weight, 0);
      free = bin.hi + 1;
    }
  }
  expect_refused(ErrorKind::kUsage,
                 "the presets are wlbllm_mix, wikipedia, magi, mooncake, azure_conv, openchat_sft",
                 [] { read_lengths("preset:c4"); });
}

TEST(LengthsPreset, AgreesWithItsSource) {
  for (const auto& [preset, file] : kFiles) {
    if (!std::filesystem::exists(data_file(file))) GTEST_SKIP() << "needs " << data_file(file);
    SCOPED_TRACE(preset);
    const LengthSummary table = summarise(read_lengths("preset:" + preset));
    const LengthSummary real = summarise(read_lengths(data_file(file)));
    EXPECT_NEAR(table.mean / real.mean, 1, 0.01);
    EXPECT_NEAR(table.mean_square / real.mean_square, 1, 0.01);
    EXPECT_EQ(table.max, real.max);
    for (size_t i = 0; i < real.quantiles.size(); ++i) {
      if (real.quantiles[i].p < 0.5) continue;  // quantiles of a few tokens round coarsely
      EXPECT_NEAR(
          static_cast<double>(table.quantiles[i].length) / static_cast<double>(real.quantiles[i].length), 1,
          0.03)
          << "p" << 100 * real.quantiles[i].p;
    }
    EXPECT_NEAR(table.longest->squares, real.longest->squares, 0.02);
    EXPECT_NEAR(*table.squared_cv / *real.squared_cv, 1, 0.03);
    EXPECT_EQ(table.tail.has_value(), real.tail.has_value());
    if (!real.tail || !table.tail) continue;
    EXPECT_NEAR(table.tail->index / real.tail->index, 1, 0.05);
  }
}

TEST(LengthsPreset, EverySourceFileReads) {
  const std::map<std::string, std::pair<std::string, int64_t>> expected = {
      {"wlbllm_mix.json", {"json", 99519}},    {"wikipedia_400k.txt", {"text", 400000}},
      {"azure_conv_2023.csv", {"csv", 19366}}, {"mooncake_conversation.jsonl", {"jsonl", 12031}},
      {"openchat_sft.json", {"json", 6144}},   {"magi_histogram.csv", {"binned_csv", 13463214}},
  };
  for (const auto& [file, what] : expected) {
    if (!std::filesystem::exists(data_file(file))) GTEST_SKIP() << "needs " << data_file(file);
    const Lengths lengths = read_lengths(data_file(file));
    EXPECT_EQ(lengths.format, what.first) << file;
    EXPECT_EQ(lengths.documents, what.second) << file;
  }
}

}  // namespace
}  // namespace counterpoise
