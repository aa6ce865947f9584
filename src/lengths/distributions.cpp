// SPDX-License-Identifier: Apache-2.0
#include "lengths/distributions.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>

#include "counterpoise/error.h"
#include "counterpoise/numbers.h"
#include "lengths/distribution_arguments.h"

namespace counterpoise {
namespace {

constexpr double kTailBeyondMax = 1e-6;            // default max: exceeded by one document in a million ...
constexpr int64_t kDefaultMax = int64_t{1} << 20;  // ... and at most this
constexpr int64_t kSingles = 4096;                 // up to here a smooth distribution gets a bin per length
constexpr double kBinWidth = 0.005;                // beyond, bins this wide relative to their length
constexpr int kMaxNesting = 8;

// One term of a mixture (a plain distribution is a mixture of one).
struct Component {
  double weight = 1;
  int64_t lo = 0, hi = 0;  // the legal lengths, both included
  bool smooth = false;     // wants fine bins; else equally likely over lo..hi
  // P(a - 1/2 < X <= b + 1/2) of the continuous variable, before conditioning on lo..hi.
  std::function<double(int64_t, int64_t)> mass;
};

void check_order(std::string_view name, std::string_view low_name, int64_t low, int64_t high) {
  if (low > high)
    throw_error(ErrorKind::kUsage, "dist:{}: {}={} is above max={}; raise max or lower {}", name, low_name,
                low, high, low_name);
}

Component lognormal(const DistributionCall& call) {
  DistributionArguments arguments(call);
  const int64_t median = arguments.length("median", 0, "3k");
  const double sigma = arguments.positive("sigma", 1, "1.2");
  if (median < 1) throw_error(ErrorKind::kUsage, "dist:lognormal: median must be at least 1");
  const double mu = std::log(static_cast<double>(median));
  constexpr double kTailQuantile =
      4.753424308822899;  // of the standard normal, beyond which kTailBeyondMax lies
  const double tail = std::min(std::exp(mu + sigma * kTailQuantile), static_cast<double>(kDefaultMax));
  const int64_t max = arguments.length_or("max", 2, std::max(median, static_cast<int64_t>(tail)));
  arguments.check_all_known();
  check_order("lognormal", "median", median, max);
  const auto z = [mu, sigma](double x) { return (std::log(x) - mu) / (sigma * std::numbers::sqrt2); };
  // Differences of the nearer tail: no cancellation far from the median.
  const auto mass = [z](int64_t a, int64_t b) {
    const double from = z(static_cast<double>(a) - 0.5), to = z(static_cast<double>(b) + 0.5);
    return from > 0 ? 0.5 * (std::erfc(from) - std::erfc(to)) : 0.5 * (std::erfc(-to) - std::erfc(-from));
  };
  return {1, 1, max, true, mass};
}

Component pareto(const DistributionCall& call) {
  DistributionArguments arguments(call);
  const int64_t min = arguments.length("min", 0, "1k");
  const double alpha = arguments.positive("alpha", 1, "1.5");
  if (min < 1) throw_error(ErrorKind::kUsage, "dist:pareto: min must be at least 1");
  const double start = static_cast<double>(min);
  const double tail =
      std::min(start * std::pow(kTailBeyondMax, -1 / alpha), static_cast<double>(kDefaultMax));
  const int64_t max = arguments.length_or("max", 2, std::max(min, static_cast<int64_t>(tail)));
  arguments.check_all_known();
  check_order("pareto", "min", min, max);
  const auto survival = [start, alpha](double x) { return x <= start ? 1.0 : std::pow(start / x, alpha); };
  const auto mass = [survival](int64_t a, int64_t b) {
    return survival(static_cast<double>(a) - 0.5) - survival(static_cast<double>(b) + 0.5);
  };
  return {1, min, max, true, mass};
}

// Every length of lo..hi equally likely.
Component flat(int64_t lo, int64_t hi) {
  const auto mass = [](int64_t a, int64_t b) { return static_cast<double>(b - a + 1); };
  return {1, lo, hi, false, mass};
}

Component uniform(const DistributionCall& call) {
  DistributionArguments arguments(call);
  const int64_t min = arguments.length("min", 0, "1");
  const int64_t max = arguments.length("max", 1, "8k");
  arguments.check_all_known();
  check_order("uniform", "min", min, max);
  return flat(min, max);
}

Component constant(const DistributionCall& call) {
  DistributionArguments arguments(call);
  const int64_t length = arguments.length("length", 0, "4k");
  arguments.check_all_known();
  return flat(length, length);
}

void add_components(std::string_view text, double weight, int nesting, std::vector<Component>& components) {
  const DistributionCall call = parse_call(text);
  if (call.name == "mixture") {
    if (nesting >= kMaxNesting) throw_error(ErrorKind::kUsage, "dist:mixture: nested too deeply");
    const auto terms = parse_terms(call.inside);
    double total = 0;
    for (const auto& term : terms) total += term.first;
    for (const auto& [share, inner] : terms)
      add_components(inner, weight * share / total, nesting + 1, components);
    return;
  }
  using Maker = Component (*)(const DistributionCall&);
  constexpr std::pair<std::string_view, Maker> kMakers[] = {
      {"lognormal", lognormal}, {"uniform", uniform}, {"pareto", pareto}, {"constant", constant}};
  for (const auto& [name, make] : kMakers) {
    if (name != call.name) continue;
    components.push_back(make(call));
    components.back().weight = weight;
    return;
  }
  throw_error(ErrorKind::kUsage, "dist:{} is unknown; choose lognormal, uniform, pareto, constant or mixture",
              call.name);
}

// Lengths at which a bin begins, ascending; the last is one past the longest length.
std::vector<int64_t> bin_edges(const std::vector<Component>& components) {
  std::vector<int64_t> edges;
  for (const Component& component : components) {
    edges.push_back(component.lo);
    edges.push_back(component.hi + 1);
    for (int64_t x = component.lo; component.smooth && x <= component.hi;) {
      edges.push_back(x);
      x += x < kSingles ? 1 : static_cast<int64_t>(static_cast<double>(x) * kBinWidth);
    }
  }
  std::ranges::sort(edges);
  edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
  return edges;
}

}  // namespace

Lengths distribution_lengths(std::string_view text) {
  std::vector<Component> components;
  add_components(text, 1, 0, components);
  for (Component& component : components) {
    const double whole = component.mass(component.lo, component.hi);
    if (!(whole > 0))
      throw_error(ErrorKind::kUsage, "dist:{}: no length is likely within {}..{}", text, component.lo,
                  component.hi);
    component.weight /= whole;
  }
  Lengths lengths;
  lengths.format = "dist";
  int64_t longest = 0;
  const std::vector<int64_t> edges = bin_edges(components);
  for (size_t i = 0; i + 1 < edges.size(); ++i) {
    LengthBin bin{edges[i], edges[i + 1] - 1, 0};
    for (const Component& component : components)
      if (component.lo <= bin.lo && bin.hi <= component.hi)
        bin.weight += component.weight * component.mass(bin.lo, bin.hi);
    if (bin.weight <= 0) continue;
    lengths.bins.push_back(bin);
    longest = bin.hi;
  }
  lengths.provenance = fmt::format("longest document {}", format_size(longest));
  return lengths;
}

}  // namespace counterpoise
