// SPDX-License-Identifier: Apache-2.0
#include "counterpoise/cost_model.h"

#include <gtest/gtest.h>

#include <cmath>

#include "counterpoise/error.h"
#include "counterpoise/kernel_profile.h"
#include "counterpoise/random.h"

namespace counterpoise {
namespace {

DirectionModel invented() {
  DirectionModel model;
  model.tile = {64, 64};
  model.seconds_per[static_cast<size_t>(Feature::kLaunch)] = 5e-5;
  model.seconds_per[static_cast<size_t>(Feature::kGroup)] = 2e-7;
  model.seconds_per[static_cast<size_t>(Feature::kBlockDim)] = 4e-9;
  return model;
}

std::vector<Measurement> calls_of(const DirectionModel& truth, double noise) {
  RandomStream random(3);
  std::vector<Measurement> calls;
  for (int64_t q : {16, 64, 200, 1000, 4000})
    for (int64_t extra : {0, 100, 3000})
      for (int64_t heads : {1, 8}) {
        Measurement call;
        call.tiles = {causal_share(q, q + extra, {heads, 1, 64, 64, 2})};
        call.seconds = truth.seconds(call.tiles, 1) * std::exp(noise * random.normal());
        calls.push_back(call);
      }
  return calls;
}

FitOptions options() {
  FitOptions fit;
  fit.features = {Feature::kLaunch, Feature::kGroup, Feature::kBlockDim, Feature::kKeyRow};
  fit.tiles = {{64, 64}, {128, 64}};
  fit.sharpness = {1, 4};
  return fit;
}

TEST(CostModel, FitRecoversTheModelThatMadeTheTimes) {
  const DirectionModel truth = invented();
  const DirectionModel model = fit_direction(calls_of(truth, 0), options());
  EXPECT_EQ(model.tile, truth.tile);
  EXPECT_EQ(model.sharpness, 1);
  for (size_t i = 0; i < kFeatures; ++i)
    EXPECT_NEAR(model.seconds_per[i], truth.seconds_per[i], 1e-4 * truth.seconds_per[i] + 1e-16)
        << feature_name(static_cast<Feature>(i));
}

TEST(CostModel, FitRecoversOverlap) {
  DirectionModel truth = invented();
  truth.sharpness = 4;
  const DirectionModel model = fit_direction(calls_of(truth, 0), options());
  EXPECT_EQ(model.sharpness, 4);
  EXPECT_LT(model_errors(model, calls_of(truth, 0)).worst, 1e-3);
}

TEST(CostModel, AFewWildRowsDoNotBendTheFit) {
  const DirectionModel truth = invented();
  std::vector<Measurement> calls = calls_of(truth, 0.01);
  calls[4].seconds *= 5;
  calls[20].seconds *= 3;
  const DirectionModel model = fit_direction(calls, options());
  EXPECT_LT(model_errors(model, calls_of(truth, 0)).worst, 0.05);
}

TEST(CostModel, ResidualsCorrectNearMeasurementsAndFadeFarAway) {
  std::vector<Measurement> calls = calls_of(invented(), 0);
  for (Measurement& call : calls)
    if (call.tiles[0].q_rows == 1000) call.seconds *= 1.3;
  FitOptions fit = options();
  const DirectionModel plain = fit_direction(calls, fit);
  fit.keep_residuals = true;
  const DirectionModel corrected = fit_direction(calls, fit);
  EXPECT_LT(model_errors(corrected, calls).median, model_errors(plain, calls).median + 1e-12);
  const WorkShape near = causal_share(1010, 1010, {8, 1, 64, 64, 2}),
                  far = causal_share(2, 1 << 20, {64, 1, 64, 64, 2});
  EXPECT_GT(corrected.seconds({&near, 1}, 1), 1.15 * plain.seconds({&near, 1}, 1));
  EXPECT_NEAR(corrected.seconds({&far, 1}, 1), plain.seconds({&far, 1}, 1),
              1e-6 * plain.seconds({&far, 1}, 1));
}

TEST(CostModel, CallsAndTiles) {
  const CostModel model(invented(), std::nullopt);
  const WorkShape tile = causal_share(128, 128, {2, 1, 64, 64, 2});
  EXPECT_EQ(model.call_seconds({}), 0);
  // 2 heads: q blocks of 64 see 1 and 2 kv blocks.
  EXPECT_DOUBLE_EQ(model.tile_seconds(tile), 2 * (2 * 2e-7 + 3 * 128 * 4e-9));
  EXPECT_DOUBLE_EQ(model.call_seconds({&tile, 1}), 5e-5 + model.tile_seconds(tile));
  EXPECT_THROW(model.call_seconds({&tile, 1}, Direction::kBackward), Error);
}

TEST(CostModel, ExtrapolationIsMarked) {
  const CostModel model(fit_direction(calls_of(invented(), 0), options()), std::nullopt);
  const WorkShape inside = causal_share(500, 600, {4, 1, 64, 64, 2}),
                  longer = causal_share(40000, 40000, {4, 1, 64, 64, 2}),
                  wider = causal_share(500, 600, {64, 1, 64, 64, 2});
  EXPECT_FALSE(model.extrapolated({&inside, 1}));
  EXPECT_TRUE(model.extrapolated({&longer, 1}));
  EXPECT_TRUE(model.extrapolated({&wider, 1}));
}

TEST(CostModel, TooFewMeasurementsAreRefused) {
  std::vector<Measurement> calls = calls_of(invented(), 0);
  calls.resize(3);
  EXPECT_THROW(fit_direction(calls, options()), Error);
  calls = calls_of(invented(), 0);
  calls[7].seconds = 0;
  EXPECT_THROW(fit_direction(calls, options()), Error);
}

TEST(KernelProfile, PieceTimeIsTheMeanShareOfTheRanks) {
  const CostShape shape{4, 2, 64, 64, 2};
  const KernelProfile profile({"here", "test", "seconds", "none", "none", ""},
                              CostModel(invented(), std::nullopt), shape);
  EXPECT_EQ(profile.piece_time(0, 4), 0);
  for (const int64_t cp : {1, 2, 3, 8}) {
    double sum = 0;
    for (int64_t rank = 0; rank < cp; ++rank)
      for (const WorkShape& tile : zigzag_share(1000, cp, rank, shape))
        sum += profile.model().tile_seconds(tile);
    EXPECT_NEAR(profile.piece_time(1000, cp), sum / static_cast<double>(cp), 1e-15);
  }
}

TEST(KernelProfile, BuiltInsPriceBothDirections) {
  const KernelProfilePtr a100 = load_kernel_profile("a100"), h100 = load_kernel_profile("h100-varlen");
  EXPECT_TRUE(a100->model().has_backward());
  EXPECT_FALSE(h100->model().has_backward());
  EXPECT_THROW(load_kernel_profile("area"), Error);
  // 32K tokens on an A100 with 32 heads took 42 ms forward and 117 ms backward.
  const WorkShape whole = causal_share(32768, 32768, {32, 32, 128, 128, 2});
  EXPECT_NEAR(a100->call_seconds({&whole, 1}), 0.04196, 0.1 * 0.04196);
  EXPECT_NEAR(a100->call_seconds({&whole, 1}, Direction::kBackward), 0.11691, 0.1 * 0.11691);
}

}  // namespace
}  // namespace counterpoise
