// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>

#include "cost/coefficients.h"
#include "counterpoise/error.h"
#include "counterpoise/links.h"

namespace counterpoise {
namespace {

using Rows = std::vector<const LinkMeasurement*>;  // of one curve, ascending in bytes

struct FittedLine {
  LinkLine line;
  double loss;
};

FittedLine fit_line(Rows::const_iterator begin, Rows::const_iterator end) {
  // Two of the fitter's feature slots serve for latency and moved bytes; with sharpness 1 they just add.
  static constexpr Feature kSlots[] = {static_cast<Feature>(0), static_cast<Feature>(1)};
  FeatureRows rows;
  for (auto row = begin; row != end; ++row) {
    rows.features.push_back({1, moved_bytes((*row)->op, (*row)->ranks, (*row)->bytes)});
    rows.seconds.push_back((*row)->seconds);
  }
  const FittedCoefficients fitted = fit_coefficients(rows, 1, kSlots);
  return {{fitted.seconds_per[0], fitted.seconds_per[1]}, fitted.loss};
}

// One line, or two meeting where small messages go another way: a second must halve the loss, and needs
// three rows on either side.
std::vector<LinkLine> fit_lines(const Rows& rows) {
  const FittedLine single = fit_line(rows.begin(), rows.end());
  std::vector<LinkLine> best = {single.line};
  double least = single.loss / 2;
  for (size_t split = 3; split + 3 <= rows.size(); ++split) {
    const auto middle = rows.begin() + static_cast<std::ptrdiff_t>(split);
    const FittedLine small = fit_line(rows.begin(), middle), large = fit_line(middle, rows.end());
    // The fastest line must be the right one on its own side.
    const bool crosses =
        small.line.latency < large.line.latency && small.line.seconds_per_byte > large.line.seconds_per_byte;
    if (!crosses || small.loss + large.loss >= least) continue;
    least = small.loss + large.loss;
    best = {small.line, large.line};
  }
  return best;
}

LinkCurve fit_curve(Rows rows) {
  std::stable_sort(rows.begin(), rows.end(), [](auto* a, auto* b) { return a->bytes < b->bytes; });
  if (rows.size() < 2)
    throw_error(ErrorKind::kBadInput, "{}: one size fixes no line; at least two are needed",
                rows.front()->label);
  return {rows.front()->op, rows.front()->ranks, fit_lines(rows), rows.front()->bytes, rows.back()->bytes};
}

}  // namespace

std::vector<LinkLevel> fit_links(const std::vector<LinkMeasurement>& measurements) {
  std::map<std::tuple<bool, Collective, int64_t>, Rows> curves;
  for (const LinkMeasurement& one : measurements) curves[{one.nodes > 1, one.op, one.ranks}].push_back(&one);
  std::vector<LinkLevel> levels;
  for (const auto& [key, rows] : curves) {
    const char* name = std::get<0>(key) ? "network" : "node";
    if (levels.empty() || levels.back().name != name) levels.push_back({name, {}});
    levels.back().curves.push_back(fit_curve(rows));
  }
  return levels;
}

}  // namespace counterpoise
