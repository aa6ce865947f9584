// SPDX-License-Identifier: Apache-2.0
#include "counterpoise/profile.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "counterpoise/error.h"

namespace counterpoise {
namespace {

TEST(Profile, AreaIsPairsOverRanks) {
  const ProfilePtr area = load_profile("area");
  EXPECT_EQ(area->info().unit, "pairs");
  EXPECT_EQ(area->piece_time(0, 1), 0);
  EXPECT_EQ(area->piece_time(4, 1), 10);
  EXPECT_EQ(area->piece_time(4, 8), 1.25);
  EXPECT_FALSE(area->extrapolated(1, 1024));
}

double h100_seconds(double length, double tflops) {
  return length * (length + 1) / 2 * 512 / (tflops * 1e12);
}

TEST(Profile, H100FollowsThePublishedCurve) {
  const ProfilePtr h100 = load_profile("h100-fa3");
  EXPECT_EQ(h100->piece_time(0, 1), 0);
  EXPECT_DOUBLE_EQ(h100->piece_time(512, 1), h100_seconds(512, 292));
  EXPECT_DOUBLE_EQ(h100->piece_time(16384, 1), h100_seconds(16384, 616));
  // Half way in log L between 1K and 4K's neighbours; held outside the curve.
  EXPECT_NEAR(h100->piece_time(1448, 1), h100_seconds(1448, (423 + 521) / 2.0),
              1e-4 * h100_seconds(1448, 472));
  EXPECT_DOUBLE_EQ(h100->piece_time(1, 1), h100_seconds(1, 292));
  EXPECT_DOUBLE_EQ(h100->piece_time(1 << 20, 1), h100_seconds(1 << 20, 616));
  EXPECT_EQ(h100->measured_lengths().end, 16385);
}

double penalty(const Profile& profile, int64_t length, int64_t cp) {
  return profile.piece_time(length, cp) * static_cast<double>(cp) / profile.piece_time(length, 1);
}

TEST(Profile, H100PenaltyIsTheMeasuredOne) {
  const ProfilePtr h100 = load_profile("h100-fa3");
  // c t_c / t_1 of the table's rows, by hand.
  EXPECT_NEAR(penalty(*h100, 1024, 8), 8 * 0.009513700008392334 / 0.0606513999402523, 1e-5);
  EXPECT_NEAR(penalty(*h100, 32, 2), 2 * 0.0013339531258679926 / 0.0014232906163670123, 1e-5);
  // Bilinear in the logarithms: half way between 2 and 8 ranks lies the value at 4.
  EXPECT_NEAR(penalty(*h100, 512, 4), 1.08722, 1e-9);
  EXPECT_NEAR(penalty(*h100, 512, 3), 1.10447 + std::log2(1.5) * (1.08722 - 1.10447), 1e-9);
  // Held outside 32 ... 32K tokens.
  EXPECT_NEAR(penalty(*h100, 3, 8), 7.26487, 1e-9);
  // Beyond 8 ranks: the penalty of an equally thin share at 8.
  EXPECT_NEAR(penalty(*h100, 8192, 64), penalty(*h100, 1024, 8), 1e-12);
  EXPECT_TRUE(h100->extrapolated(8192, 64));
  EXPECT_FALSE(h100->extrapolated(8192, 8));
  EXPECT_TRUE(h100->extrapolated(1 << 20, 2));
}

TEST(Profile, SavesAndLoadsEqual) {
  const std::string path = testing::TempDir() + "counterpoise_profile.json";
  for (const std::string& name : profile_names()) {
    const ProfilePtr profile = load_profile(name);
    save_profile(*profile, path);
    const ProfilePtr again = load_profile(path);
    EXPECT_EQ(profile_text(*again), profile_text(*profile));
    EXPECT_EQ(profile_hash(*again), profile_hash(*profile));
    for (const int64_t length : {1, 33, 700, 40000})
      EXPECT_EQ(again->piece_time(length, 3), profile->piece_time(length, 3));
  }
  std::filesystem::remove(path);
}

TEST(Profile, UnknownNameListsTheBuiltIns) {
  try {
    load_profile("h200-fa9");
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kUsage);
    EXPECT_NE(std::string(error.what()).find("h100-fa3, h100-varlen, a100, area"), std::string::npos)
        << error.what();
  }
}

void expect_refused(std::string text, const std::string& from, const std::string& to,
                    const std::string& field) {
  const size_t at = text.find(from);
  ASSERT_NE(at, std::string::npos) << from;
  text.replace(at, from.size(), to);
  try {
    parse_profile(text, "cluster.json");
    ADD_FAILURE() << "accepted " << to;
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kBadInput);
    EXPECT_NE(std::string(error.what()).find("cluster.json"), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find(field), std::string::npos) << error.what();
  }
}

TEST(Profile, BadFilesNameTheField) {
  const std::string good = profile_text(*load_profile("h100-fa3"));
  expect_refused(good, "counterpoise/profile", "counterpoise/plan", "schema");
  expect_refused(good, "\"version\": 1", "\"version\": 2", "version");
  expect_refused(good, "\"unit\": \"seconds\"", "\"unit\": \"hours\"", "unit");
  expect_refused(good, "\"device\":", "\"devise\":", "device");
  expect_refused(good, "\"documents\"", "\"magic\"", "model.kind");
  expect_refused(good, "512.0,", "-512.0,", "model.flops_per_pair");
  expect_refused(good, "292.0,", "", "model.curve.tflops");
  expect_refused(good, "292.0", "\"fast\"", "model.curve.tflops");
  expect_refused(good, "1024.0", "100.0", "model.curve.length");
  expect_refused(good, "7.26487", "0", "model.penalty.value[0]");
  expect_refused(good, "}", "", "not JSON");
}

}  // namespace
}  // namespace counterpoise
