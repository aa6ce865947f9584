// SPDX-License-Identifier: Apache-2.0
// Distributions: moments against closed forms, and the words of refusals.
#include <gtest/gtest.h>

#include <cmath>

#include "counterpoise/length_summary.h"
#include "length_files.h"

namespace counterpoise {
namespace {

Lengths dist(const std::string& text) {
  return read_lengths("dist:" + text);
}

double normal_cdf(double x) {
  return 0.5 * std::erfc(-x / std::sqrt(2.0));
}

// E[X^k] of a lognormal conditioned on X <= max.
double lognormal_moment(double median, double sigma, double max, int k) {
  const double mu = std::log(median), end = (std::log(max) - mu) / sigma;
  return std::exp(k * mu + k * k * sigma * sigma / 2) * normal_cdf(end - k * sigma) / normal_cdf(end);
}

// E[X^k] of a Pareto conditioned on X <= max.
double pareto_moment(double min, double alpha, double max, int k) {
  const double inside = 1 - std::pow(min / max, alpha);
  return alpha * std::pow(min, alpha) * (std::pow(max, k - alpha) - std::pow(min, k - alpha)) / (k - alpha) /
         inside;
}

TEST(LengthsDist, LognormalHasItsMoments) {
  for (const double sigma : {0.5, 1.2, 2.0})
    for (const double max : {8192.0, 131072.0, 4194304.0}) {
      const LengthSummary summary =
          summarise(dist(fmt::format("lognormal(median=3k,sigma={},max={})", sigma, max)));
      // Rounding to tokens moves the moments by less than a token; sigma = 2 puts some mass below one.
      EXPECT_NEAR(summary.mean / lognormal_moment(3072, sigma, max, 1), 1, 1e-3) << sigma << " " << max;
      EXPECT_NEAR(summary.mean_square / lognormal_moment(3072, sigma, max, 2), 1, 1e-3)
          << sigma << " " << max;
      EXPECT_EQ(summary.max, static_cast<int64_t>(max));
      EXPECT_GE(summary.min, 1);
    }
}

TEST(LengthsDist, ParetoHasItsMoments) {
  for (const double alpha : {0.8, 1.5, 3.5}) {
    const LengthSummary summary = summarise(dist(fmt::format("pareto(min=1k,alpha={},max=1M)", alpha)));
    EXPECT_NEAR(summary.mean / pareto_moment(1024, alpha, 1 << 20, 1), 1, 1e-3) << alpha;
    EXPECT_NEAR(summary.mean_square / pareto_moment(1024, alpha, 1 << 20, 2), 1, 1e-3) << alpha;
    EXPECT_EQ(summary.min, 1024);
  }
  // Far below its end, Hill's estimate is the index.
  EXPECT_NEAR(summarise(dist("pareto(min=10,alpha=2.5,max=100M)")).tail->index, 2.5, 0.01);
}

TEST(LengthsDist, FlatOnesAreExact) {
  const LengthSummary uniform = summarise(dist("uniform(min=0,max=10)"));
  EXPECT_DOUBLE_EQ(uniform.mean, 5);
  EXPECT_DOUBLE_EQ(uniform.mean_square, 35);
  EXPECT_DOUBLE_EQ(uniform.zero_length_share, 1.0 / 11);
  for (const char* text : {"constant(4k)", "constant(length=4096)", " constant ( 4_096 ) "}) {
    const Lengths lengths = dist(text);
    ASSERT_EQ(lengths.bins.size(), 1u) << text;
    EXPECT_EQ(lengths.bins[0].lo, 4096);
    EXPECT_EQ(lengths.bins[0].hi, 4096);
  }
  EXPECT_EQ(summarise(dist("constant(0)")).max, 0);
}

TEST(LengthsDist, MixtureAddsItsTermsUp) {
  const LengthSummary body = summarise(dist("lognormal(median=3k,sigma=1.2,max=128k)"));
  const LengthSummary mixed =
      summarise(dist("mixture(0.9*lognormal(median=3k,sigma=1.2,max=128k)+0.1*constant(128k))"));
  const double top = 131072;
  EXPECT_NEAR(mixed.mean, 0.9 * body.mean + 0.1 * top, 1e-6 * mixed.mean);
  EXPECT_NEAR(mixed.mean_square, 0.9 * body.mean_square + 0.1 * top * top, 1e-6 * mixed.mean_square);
  // Weights are relative, terms may overlap and nest.
  const LengthSummary nested =
      summarise(dist("mixture(1*uniform(0,10)+1*mixture(2*constant(5)+2*uniform(5,15)))"));
  EXPECT_NEAR(nested.mean, 0.5 * 5 + 0.25 * 5 + 0.25 * 10, 1e-12);
}

TEST(LengthsDist, BinsAreNarrowAscendingAndEndAtTheDefaultMax) {
  const Lengths lengths = dist("lognormal(median=3k,sigma=1.2)");
  for (size_t i = 0; i < lengths.bins.size(); ++i) {
    const LengthBin& bin = lengths.bins[i];
    EXPECT_LE(static_cast<double>(bin.hi - bin.lo), 0.005 * static_cast<double>(bin.lo));
    EXPECT_EQ(bin.lo, i == 0 ? 1 : lengths.bins[i - 1].hi + 1);
  }
  // One document in a million is longer: median * exp(4.7534 sigma) = 921,901.
  EXPECT_EQ(lengths.bins.back().hi, 921901);
  EXPECT_EQ(dist("lognormal(median=3k,sigma=3)").bins.back().hi, 1 << 20);
  EXPECT_EQ(dist("pareto(min=100,alpha=2)").bins.back().hi, 100000);
  EXPECT_EQ(dist("pareto(min=2M,alpha=2)").bins.back().hi, 2 << 20);
}

TEST(LengthsDist, RefusalsNameTheParameter) {
  const std::pair<const char*, const char*> cases[] = {
      {"", "write NAME(KEY=VALUE,...)"},
      {"lognormal", "write NAME(KEY=VALUE,...)"},
      {"normal(3)", "dist:normal is unknown; choose lognormal, uniform, pareto, constant or mixture"},
      {"lognormal(sigma=1)", "dist:lognormal: median is missing, for example median=3k"},
      {"lognormal(median=3k)", "dist:lognormal: sigma is missing"},
      {"lognormal(median=3k,sigma=-1)", "dist:lognormal: sigma must be a number above 0, not '-1'"},
      {"lognormal(median=3k,sigma=nan)", "sigma must be a number above 0"},
      {"lognormal(median=0,sigma=1)", "dist:lognormal: median must be at least 1"},
      {"lognormal(median=x,sigma=1)", "dist:lognormal: median: 'x' is not a size"},
      {"lognormal(median=3k,sigma=1,max=2k)", "dist:lognormal: median=3072 is above max=2048"},
      {"lognormal(median=3k,sigma=1,max=4G)",
       "dist:lognormal: max=4G is above the limit of 2,147,483,648 tokens"},
      {"lognormal(median=3k,sigma=1,mean=4)",
       "dist:lognormal has no parameter 'mean'; it takes median, sigma, max"},
      {"lognormal(median=3k,sigma=1,sigma=2)", "dist:lognormal: sigma is given twice"},
      {"lognormal(3k,1,128k,7)", "dist:lognormal takes median, sigma, max; 4 arguments are too many"},
      {"uniform(min=5,max=4)", "dist:uniform: min=5 is above max=4"},
      {"uniform(min=5)", "dist:uniform: max is missing"},
      {"pareto(min=0,alpha=1)", "dist:pareto: min must be at least 1"},
      {"constant()", "dist:constant: length is missing"},
      {"constant(3))", "the parentheses do not match"},
      {"constant(3)x", "write NAME(KEY=VALUE,...)"},
      {"mixture(constant(3))", "is no term; write WEIGHT*DISTRIBUTION"},
      {"mixture(0*constant(3))", "is no term"},
      {"mixture(1*constant(3)+)", "is no term"},
      {"mixture(1*constant(3)+2*normal(3))", "dist:normal is unknown"},
  };
  for (const auto& [text, words] : cases) {
    SCOPED_TRACE(text);
    expect_refused(ErrorKind::kUsage, words, [&] { dist(text); });
  }
}

}  // namespace
}  // namespace counterpoise
