// SPDX-License-Identifier: Apache-2.0
#include "exec/repeated_timings.h"

#include <gtest/gtest.h>

namespace counterpoise {
namespace {

// A core whose speed is a function of how many runs and references it has done. Call i takes 10 + i.
struct Core {
  std::function<double(int64_t)> slowness;
  int64_t now = 0;

  double work(double seconds) { return seconds * slowness(now++); }
  RepeatedTimings timings() {
    return RepeatedTimings(RandomStream(7), [this] { return work(1); });
  }
  RepeatedTimings::Call call() {
    return [this](size_t i) { return work(10 + static_cast<double>(i)); };
  }
};

void expect_best(const std::vector<Repeats>& times, double slowness) {
  for (size_t i = 0; i < times.size(); ++i)
    EXPECT_DOUBLE_EQ(times[i].best(), slowness * (10 + static_cast<double>(i))) << "call " << i;
}

TEST(RepeatedTimings, AQuietCoreRunsEveryCallOnce) {
  Core core{.slowness = [](int64_t) { return 1.0; }};
  RepeatedTimings timings = core.timings();
  const std::vector<Repeats> times = timings.time(50, core.call(), {});
  expect_best(times, 1);
  for (const Repeats& repeats : times) EXPECT_EQ(repeats.runs.size(), 1u);
  EXPECT_EQ(timings.timings(), 50);
  EXPECT_EQ(timings.retaken(), 0);
  EXPECT_EQ(timings.disturbed(), 0);
}

TEST(RepeatedTimings, SlowSpellsAreSeenByTheReferenceAndRunAgain) {
  Core core{.slowness = [](int64_t now) { return now / 60 % 4 == 3 ? 1.4 : 1.0; }};  // a quarter of it
  RepeatedTimings timings = core.timings();
  expect_best(timings.time(200, core.call(), {}), 1);
  EXPECT_GT(timings.retaken(), 0);
  EXPECT_LT(timings.retaken(), 200);
  EXPECT_EQ(timings.disturbed(), 0);
}

TEST(RepeatedTimings, WhatLooksQuietFromWithinASlowSpellIsSeenLater) {
  Core core{.slowness = [](int64_t now) { return now < 30 ? 1.4 : 1.0; }};  // slow from the start
  RepeatedTimings timings = core.timings();
  expect_best(timings.time(20, core.call(), {}), 1);
  EXPECT_GE(timings.retaken(), 1);
}

TEST(RepeatedTimings, PatienceEnds) {
  Core core{.slowness = [](int64_t now) { return now < 2 ? 1.0 : 1.4; }};
  RepeatedTimings timings = core.timings();
  TimingEffort effort;
  effort.least = effort.undisturbed = 2;
  effort.most = 5;
  const std::vector<Repeats> times = timings.time(30, core.call(), effort);
  expect_best(times, 1.4);
  for (const Repeats& repeats : times) EXPECT_EQ(repeats.runs.size(), 5u);
  EXPECT_EQ(timings.retaken(), 30 * 3);
  EXPECT_EQ(timings.disturbed(), 30);
}

TEST(RepeatedTimings, NoiseBelowTheLimitIsLeftAlone) {
  Core core{.slowness = [](int64_t now) { return 1 + 0.02 * static_cast<double>(now % 4); }};
  RepeatedTimings timings = core.timings();
  timings.time(50, core.call(), {});
  EXPECT_EQ(timings.retaken(), 0);
}

TEST(RepeatedTimings, WithoutAReferenceOnlyTimeAndTheMostRunsEndIt) {
  Core core{.slowness = [](int64_t now) { return 1 + 0.1 * static_cast<double>(now % 7); }};
  RepeatedTimings timings(RandomStream(7));
  TimingEffort effort;
  effort.least = 3;
  effort.most = 4;
  const std::vector<Repeats> four = timings.time(11, core.call(), effort);
  for (const Repeats& repeats : four) EXPECT_EQ(repeats.runs.size(), 4u);
  effort.seconds = 0;
  const std::vector<Repeats> three = timings.time(11, core.call(), effort);
  for (const Repeats& repeats : three) EXPECT_EQ(repeats.runs.size(), 3u);
}

TEST(RepeatedTimings, HalvesAreOfEveryOtherRun) {
  const Repeats repeats{{{5, 0}, {4, 0}, {3, 0}, {9, 0}}};
  EXPECT_EQ(repeats.half(0), 3);
  EXPECT_EQ(repeats.half(1), 4);
  EXPECT_EQ(repeats.best(), 3);
}

}  // namespace
}  // namespace counterpoise
