// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>

#include "counterpoise/calibrate_cpu.h"
#include "counterpoise/error.h"

namespace counterpoise {
namespace {

CalibrationOptions small() {
  CalibrationOptions options;
  options.max_tokens = 256;
  options.budget_seconds = 0.2;
  options.heads = {2, 1, 32, 0, 0};
  return options;
}

TEST(Calibrate, MakesAProfileThatLoadsEqual) {
  CalibrationOptions options = small();
  options.backward = true;
  double last = -1;
  const KernelProfilePtr profile = calibrate_cpu(options, [&](const std::string&, double done) {
    EXPECT_GE(done, last);
    last = done;
  });
  EXPECT_GE(last, 0);
  EXPECT_TRUE(profile->model().has_backward());
  EXPECT_EQ(profile->shape().heads, 2);
  EXPECT_EQ(profile->info().unit, "seconds");
  const auto record = nlohmann::ordered_json::parse(profile->info().calibration);
  EXPECT_GE(record["rounds"].get<int>(), 3);
  EXPECT_EQ(record["forward"]["rows"].get<size_t>(), record["forward"]["grid"].size());
  EXPECT_EQ(cross_validated_error(*profile, Direction::kBackward),
            record["backward"]["cross_validated_5_folds"]["median"].get<double>());
  EXPECT_EQ(profile_hash(*parse_profile(profile_text(*profile), "again")), profile_hash(*profile));
  // More keys cost more, whatever the noise: 256 whole rows against 16.
  EXPECT_GT(profile->piece_time(256, 1), profile->piece_time(16, 1));
}

TEST(Calibrate, TimerPlacesTilesAndRefusesTooMany) {
  const CalibrationOptions options = small();
  const CostShape shape = cost_shape(options.heads, options.dtype);
  TimedKernel kernel(options, 256);
  // Both tiles of a zigzag share read the document's keys once: 200 rows of keys fit.
  std::vector<WorkShape> tiles = zigzag_share(200, 4, 1, shape);
  EXPECT_GT(kernel.run(tiles, Direction::kForward), 0);
  tiles = zigzag_share(200, 1, 0, shape);
  tiles.push_back(tiles[0]);
  EXPECT_THROW(kernel.run(tiles, Direction::kForward), Error);
}

}  // namespace
}  // namespace counterpoise
