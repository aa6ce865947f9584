// SPDX-License-Identifier: Apache-2.0
#include "counterpoise/steady_core.h"

#include <gtest/gtest.h>

namespace counterpoise {
namespace {

// A core whose speed is a function of how many runs and references it has done.
struct Core {
  int64_t now = 0;
  std::function<double(int64_t)> slowness;
  int64_t runs = 0;

  double work(double seconds) { return seconds * slowness(now++); }
  double timed(SteadyCore& steady) {
    return steady.time([this] { return work(1); },
                       [this] {
                         ++runs;
                         return work(10);
                       });
  }
};

TEST(SteadyCore, AQuietCoreIsTimedOnce) {
  Core core{.slowness = [](int64_t) { return 1.0; }};
  SteadyCore steady;
  for (int i = 0; i < 50; ++i) EXPECT_EQ(core.timed(steady), 10);
  EXPECT_EQ(core.runs, 50);
  EXPECT_EQ(steady.retaken(), 0);
}

TEST(SteadyCore, RunsInsideASlowSpellAreTakenAgain) {
  Core core{.slowness = [](int64_t now) { return now / 60 % 4 == 3 ? 1.4 : 1.0; }};  // a quarter of it
  SteadyCore steady;
  for (int i = 0; i < 200; ++i) EXPECT_EQ(core.timed(steady), 10) << "timing " << i;
  EXPECT_GT(steady.retaken(), 0);
  EXPECT_EQ(core.runs, 200 + steady.retaken());
}

TEST(SteadyCore, WaitingTakesNoLongerThanTheWork) {
  Core core{.slowness = [](int64_t now) { return now < 40 ? 1.0 : 1.4; }};
  SteadyCore steady;
  for (int i = 0; i < 100; ++i) core.timed(steady);
  EXPECT_EQ(core.timed(steady), 14);
  EXPECT_GT(steady.disturbed(), 0);
  // Kept runs take 14; lost ones and slow references at most as much in all, one run beyond.
  EXPECT_LE(static_cast<double>(steady.retaken()), 101.0 + 1);
  EXPECT_LE(1.4 * static_cast<double>(core.now - core.runs), 101 * 14 + 14 + 40);
}

TEST(SteadyCore, NoiseBelowTheLimitIsLeftAlone) {
  Core core{.slowness = [](int64_t now) { return 1 + 0.02 * static_cast<double>(now % 4); }};
  SteadyCore steady;
  for (int i = 0; i < 50; ++i) core.timed(steady);
  EXPECT_EQ(core.runs, 50);
}

}  // namespace
}  // namespace counterpoise
