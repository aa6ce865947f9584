// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>

#include "counterpoise/law.h"
#include "counterpoise/random.h"

namespace counterpoise {
namespace {

TEST(LawCorrelation, IndependentWindowsFallAsOneOverN) {
  const Autocorrelation none{{1.0}};
  for (const int n : {1, 2, 16, 1000}) {
    EXPECT_DOUBLE_EQ(none.variance_of_mean(n), 1.0 / n);
    EXPECT_DOUBLE_EQ(none.effective_windows(n), n);
  }
  // Then the sample variance is unbiased.
  EXPECT_NEAR(none.within_step_variance(4, 2), 0.25, 1e-15);
  EXPECT_NEAR(none.within_step_variance(1, 64), 1, 1e-15);
}

TEST(LawCorrelation, IdenticalNeighboursDoNotAverage) {
  const Autocorrelation all{std::vector<double>(100, 1.0)};
  EXPECT_NEAR(all.variance_of_mean(10), 1, 1e-12);
  EXPECT_NEAR(all.within_step_variance(5, 4), 0, 1e-12);
}

TEST(LawCorrelation, WithinStepVarianceIsTheExpectationOfTheSampleVariance) {
  // Directly from the covariance matrix of the groups: trace / G minus the mean covariance, times G / (G-1).
  Autocorrelation correlation;
  for (int k = 0; k < 40; ++k) correlation.rho.push_back(std::pow(0.8, k));
  const auto rho = [&](int lag) { return correlation.rho[static_cast<size_t>(std::abs(lag))]; };
  for (const int cp : {1, 2, 5}) {
    for (const int groups : {2, 3, 7}) {
      const auto covariance = [&](int a, int b) {
        double sum = 0;
        for (int i = 0; i < cp; ++i) {
          for (int j = 0; j < cp; ++j) sum += rho(a * cp + i - b * cp - j);
        }
        return sum / (cp * cp);
      };
      double trace = 0, total = 0;
      for (int a = 0; a < groups; ++a) {
        trace += covariance(a, a);
        for (int b = 0; b < groups; ++b) total += covariance(a, b);
      }
      const double expected = (trace - total / groups) / (groups - 1);
      EXPECT_NEAR(correlation.within_step_variance(cp, groups), expected, 1e-12) << cp << " " << groups;
    }
  }
}

TEST(LawCorrelation, MeasuredByDefinition) {
  RandomStream random(1);
  std::vector<double> stream(1000);
  double last = 0;
  for (double& x : stream) x = 5 + (last = 0.6 * last + random.uniform());
  double mean = 0, variance = 0;
  for (const double x : stream) mean += x / 1000;
  for (const double x : stream) variance += (x - mean) * (x - mean) / 1000;
  const Autocorrelation measured = autocorrelation(stream, 5000);
  ASSERT_EQ(measured.rho.size(), 1000u);
  EXPECT_DOUBLE_EQ(measured.rho[0], 1);
  for (const size_t k : {1u, 2u, 17u, 500u}) {
    double product = 0;
    for (size_t i = 0; i + k < stream.size(); ++i) product += (stream[i] - mean) * (stream[i + k] - mean);
    EXPECT_NEAR(measured.rho[k], product / double(1000 - k) / variance, 1e-10) << k;
  }
}

TEST(LawCorrelation, StreamsWithoutVariance) {
  EXPECT_EQ(autocorrelation(std::vector<double>(100, 0.1), 3).rho, (std::vector<double>{1, 0, 0, 0}));
  EXPECT_EQ(autocorrelation(std::vector<double>{7}, 3).rho, (std::vector<double>{1}));
}

TEST(LawCorrelation, LawOfAStreamWhoseNeighboursAreEqual) {
  // Every cost comes twice in a row: groups of 2 at even offsets average nothing; the law, which knows no
  // offset, sees half the pairs straddle.
  RandomStream random(2);
  std::vector<double> stream;
  for (int i = 0; i < 100000; ++i) stream.insert(stream.end(), 2, 1 + random.uniform());
  const Law law = law_of_stream(stream, 2, 64);
  EXPECT_NEAR(law.variance_ratio, 0.75, 0.01);
  EXPECT_NEAR(law.effective_windows, 4.0 / 3, 0.01);
  EXPECT_NEAR(law.variance / law_of(stream, 1, 64).variance, 0.75, 0.01);
  EXPECT_GT(law.slowdown, law_of(stream, 2, 64).slowdown);
  const Law independent = law_of(stream, 2, 64);
  EXPECT_DOUBLE_EQ(independent.variance_ratio, 0.5);
  EXPECT_DOUBLE_EQ(independent.effective_windows, 2);
}

}  // namespace
}  // namespace counterpoise
