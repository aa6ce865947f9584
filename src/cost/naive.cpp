// SPDX-License-Identifier: Apache-2.0
#include "cost/coefficients.h"
#include "counterpoise/cost_model.h"

namespace counterpoise {
namespace {

struct Naive {
  const char* name;
  std::vector<double> (*terms)(const NaiveInput&);
};

const Naive kNaive[] = {
    {"constant", [](const NaiveInput&) { return std::vector<double>{1}; }},
    {"sum L^2", [](const NaiveInput& in) { return std::vector<double>{in.documents_length_squared}; }},
    {"sum kL + L^2",
     [](const NaiveInput& in) {
       return std::vector<double>{in.documents_length_squared, in.documents_length};
     }},
    {"sum L^2 / cp",
     [](const NaiveInput& in) { return std::vector<double>{in.documents_length_squared / in.cp}; }},
};

// The fitter's feature slots serve as places for a naive predictor's terms; with sharpness 1 they just add.
FeatureVector slots(const std::vector<double>& terms) {
  FeatureVector features{};
  std::copy(terms.begin(), terms.end(), features.begin());
  return features;
}

ErrorSummary errors_of(const Naive& naive, std::span<const NaiveInput> fit,
                       std::span<const NaiveInput> test) {
  FeatureRows rows;
  std::vector<Feature> enabled;
  for (const NaiveInput& in : fit) {
    rows.features.push_back(slots(naive.terms(in)));
    rows.seconds.push_back(in.seconds);
  }
  for (size_t i = 0; i < naive.terms(fit.front()).size(); ++i) enabled.push_back(static_cast<Feature>(i));
  const FeatureVector factors = fit_coefficients(rows, 1, enabled).seconds_per;
  std::vector<double> predicted, measured;
  for (const NaiveInput& in : test) {
    const FeatureVector features = slots(naive.terms(in));
    double sum = 0;
    for (size_t i = 0; i < kFeatures; ++i) sum += factors[i] * features[i];
    predicted.push_back(sum);
    measured.push_back(in.seconds);
  }
  return summarise_errors(predicted, measured);
}

}  // namespace

std::vector<NaiveError> naive_errors(std::span<const NaiveInput> fit, std::span<const NaiveInput> test) {
  std::vector<NaiveError> all;
  if (fit.empty() || test.empty()) return all;
  for (const Naive& naive : kNaive) all.push_back({naive.name, errors_of(naive, fit, test)});
  return all;
}

}  // namespace counterpoise
