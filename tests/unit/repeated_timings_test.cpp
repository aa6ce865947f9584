// SPDX-License-Identifier: Apache-2.0
#include "exec/repeated_timings.h"

#include <gtest/gtest.h>

#include "exec/timing.h"

namespace counterpoise {
namespace {

// A core whose speed is a function of how many runs and references it has done. Call i takes 10 + i.
struct Core {
  std::function<double(int64_t)> slowness;
  int64_t now = 0;

  double work(double seconds) { return seconds * slowness(now++); }
  RepeatedTimings timings(double usual = 0) {
    return RepeatedTimings([this] { return work(1); }, RandomStream(7), usual);
  }
  RepeatedTimings::Call call() {
    return [this](size_t i) { return work(10 + static_cast<double>(i)); };
  }
};

void expect_times(const std::vector<CallTime>& times, double slowness) {
  for (size_t i = 0; i < times.size(); ++i)
    EXPECT_DOUBLE_EQ(times[i].seconds, slowness * (10 + static_cast<double>(i))) << "call " << i;
}

TEST(RepeatedTimings, ASteadyCoreRunsEveryCallOnce) {
  Core core{.slowness = [](int64_t) { return 1.0; }};
  RepeatedTimings timings = core.timings();
  const std::vector<CallTime> times = timings.time(50, core.call(), {});
  expect_times(times, 1);
  for (const CallTime& time : times) EXPECT_EQ(time.runs, 1);
  EXPECT_EQ(timings.timings(), 50);
  EXPECT_EQ(timings.retaken(), 0);
  EXPECT_EQ(timings.unusual(), 0);
  EXPECT_EQ(timings.usual_reference(), 1);
  EXPECT_EQ(timings.drift(), 0);
}

TEST(RepeatedTimings, UnusualSpellsAreSeenByTheReferenceAndRunAgain) {
  for (const double other : {1.4, 0.7}) {  // a quarter of it, slow or quick
    Core core{.slowness = [other](int64_t now) { return now / 60 % 4 == 3 ? other : 1.0; }};
    RepeatedTimings timings = core.timings();
    expect_times(timings.time(200, core.call(), {}), 1);
    EXPECT_GT(timings.retaken(), 0);
    EXPECT_LT(timings.retaken(), 200);
    EXPECT_EQ(timings.unusual(), 0);
  }
}

TEST(RepeatedTimings, WhatIsUsualIsLearnt) {
  Core core{.slowness = [](int64_t now) { return now < 120 ? 1.4 : 1.0; }};  // slow from the start
  RepeatedTimings timings = core.timings();
  TimingEffort effort;
  effort.most = 40;
  expect_times(timings.time(20, core.call(), effort), 1);
  EXPECT_EQ(timings.usual_reference(), 1);
  EXPECT_GE(timings.retaken(), 1);
}

TEST(RepeatedTimings, WhatWaitingSeesIsNotUsual) {
  size_t calls = 0;
  const auto reference = [&] { return calls % 4 == 3 ? 1.4e-6 : 1e-6; };  // a slow spell outlasts all waiting
  const auto call = [&](size_t) {
    const double begin = wall_seconds();
    while (wall_seconds() - begin < 2e-4) {  // patience for hundreds of references
    }
    ++calls;
    return 1.0;
  };
  RepeatedTimings timings(reference, RandomStream(7));
  TimingEffort effort;
  effort.most = 1;
  timings.time(100, call, effort);
  EXPECT_EQ(timings.usual_reference(), 1e-6);
}

TEST(RepeatedTimings, PatienceEnds) {
  Core core{.slowness = [](int64_t now) { return now % 2 == 0 ? 1.4 : 1.5; }};
  RepeatedTimings timings = core.timings(1);
  TimingEffort effort;
  effort.least = effort.usual = 2;
  effort.most = 5;
  const std::vector<CallTime> times = timings.time(30, core.call(), effort);
  for (size_t i = 0; i < times.size(); ++i) {
    EXPECT_GE(times[i].seconds, 1.4 * (10 + static_cast<double>(i)));
    EXPECT_EQ(times[i].runs, 5);
  }
  EXPECT_EQ(timings.retaken(), 30 * 3);
  EXPECT_EQ(timings.unusual(), 30);
  EXPECT_NEAR(timings.drift(), 0.4, 0.1);
}

TEST(RepeatedTimings, NoiseWithinTheBandIsLeftAlone) {
  Core core{.slowness = [](int64_t now) { return 1 + 0.01 * static_cast<double>(now % 4); }};
  RepeatedTimings timings = core.timings();
  timings.time(50, core.call(), {});
  EXPECT_EQ(timings.retaken(), 0);
}

TEST(RepeatedTimings, TimeIsTheMedianOfUsualRunsElseTheNearest) {
  const std::vector<double> seconds = {10, 11, 13, 5};
  size_t run = 0;
  const auto call = [&](size_t) { return seconds[run++]; };
  const auto core = [&](double usual, double last) {  // of another speed when the last run has ended
    return RepeatedTimings([=, &run] { return run == 4 ? last : 1.4; }, RandomStream(7), usual);
  };
  TimingEffort effort;
  effort.least = effort.most = 4;
  const CallTime time = core(1.4, 1.8).time(1, call, effort).front();
  EXPECT_EQ(time.seconds, 11);
  EXPECT_EQ(time.halves[0], 11.5);
  EXPECT_EQ(time.halves[1], 11);
  run = 0;
  EXPECT_EQ(core(1, 1.8).time(1, call, effort).front().seconds, 10) << "all at 1.4: the first";
}

TEST(RepeatedTimings, TimeEndsItAfterTheLeastRuns) {
  Core core{.slowness = [](int64_t) { return 1.4; }};
  RepeatedTimings timings = core.timings(1);
  TimingEffort effort;
  effort.least = 3;
  effort.seconds = 0;
  for (const CallTime& time : timings.time(11, core.call(), effort)) EXPECT_EQ(time.runs, 3);
}

TEST(RepeatedTimings, PartsOfACallShareItsRuns) {
  RepeatedTimings timings([] { return 1.0; }, RandomStream(7));
  const auto times = timings.time_parts(2,
                                        [](size_t i) {
                                          return std::vector<double>{1.0 + static_cast<double>(i), 7};
                                        },
                                        {});
  ASSERT_EQ(times.size(), 2u);
  EXPECT_EQ(times[1][0].seconds, 2);
  EXPECT_EQ(times[1][1].seconds, 7);
}

}  // namespace
}  // namespace counterpoise
