// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <map>

#include "cost/coefficients.h"
#include "cost/link_line.h"
#include "counterpoise/error.h"
#include "counterpoise/links.h"

namespace counterpoise {
namespace {

using Rows = std::vector<const LinkMeasurement*>;  // of one curve, ascending in bytes
using RowSpan = std::span<const LinkMeasurement* const>;

// What a curve's rows say of its prices, and how badly.
struct FittedPrices {
  std::vector<LinkLine> lines;
  double near_bytes = 0, far_seconds_per_byte = 0;
  double loss;
};

constexpr size_t kRowsOfAPart = 3;    // at least, where a curve is fitted in two parts
constexpr size_t kSplitsTried = 256;  // about, of a curve with more rows

double moved(const LinkMeasurement& row) {
  return moved_bytes(row.op, row.ranks, row.bytes);
}

// Two lines meeting where small messages go another way.
FittedPrices fit_protocols(RowSpan rows, size_t split) {
  const FittedLine small = fit_line(rows.first(split)), large = fit_line(rows.subspan(split));
  // The fastest line must be the right one on its own side.
  const bool crosses =
      small.line.latency < large.line.latency && small.line.seconds_per_byte > large.line.seconds_per_byte;
  return {{small.line, large.line}, 0, 0, crosses ? small.loss + large.loss : INFINITY};
}

// One line, and a price for the bytes beyond those of row `split` - 1.
FittedPrices fit_cache(RowSpan rows, size_t split) {
  static constexpr Feature kSlots[] = {static_cast<Feature>(0), static_cast<Feature>(1),
                                       static_cast<Feature>(2)};
  const double near_bytes = moved(*rows[split - 1]);
  FeatureRows terms;
  for (const LinkMeasurement* row : rows) {
    terms.features.push_back({1, moved(*row), std::max(0.0, moved(*row) - near_bytes)});
    terms.seconds.push_back(row->seconds);
  }
  const FittedCoefficients fitted = fit_coefficients(terms, 1, kSlots);
  const FeatureVector& price = fitted.seconds_per;
  return {{{price[0], price[1]}}, near_bytes, price[2], price[2] > 0 ? fitted.loss : INFINITY};
}

void take_better(FittedPrices& best, FittedPrices other) {
  if (other.loss < best.loss) best = std::move(other);
}

// One line; two parts must halve the loss, and need some rows on either side.
FittedPrices fit_prices(RowSpan rows, Transport transport) {
  const FittedLine single = fit_line(rows);
  FittedPrices best{{single.line}, 0, 0, single.loss / 2};
  const size_t stride = 1 + rows.size() / kSplitsTried;
  for (size_t split = kRowsOfAPart; split + kRowsOfAPart <= rows.size(); split += stride) {
    take_better(best, fit_protocols(rows, split));
    if (transport == Transport::kMemory) take_better(best, fit_cache(rows, split));
  }
  return best;
}

LinkCurve fit_curve(Rows rows, Transport transport) {
  std::stable_sort(rows.begin(), rows.end(), [](auto* a, auto* b) { return a->bytes < b->bytes; });
  if (rows.front()->bytes == rows.back()->bytes)
    throw_error(ErrorKind::kBadInput, "{}: one size fixes no line; at least two are needed",
                rows.front()->label);
  const FittedPrices prices = fit_prices(rows, transport);
  return {rows.front()->op,           rows.front()->ranks, prices.lines,
          rows.front()->bytes,        rows.back()->bytes,  prices.near_bytes,
          prices.far_seconds_per_byte};
}

}  // namespace

FittedLine fit_line(std::span<const LinkMeasurement* const> rows) {
  // Two of the fitter's feature slots serve for latency and moved bytes; with sharpness 1 they just add.
  static constexpr Feature kSlots[] = {static_cast<Feature>(0), static_cast<Feature>(1)};
  FeatureRows terms;
  for (const LinkMeasurement* row : rows) {
    terms.features.push_back({1, moved_bytes(row->op, row->ranks, row->bytes)});
    terms.seconds.push_back(row->seconds);
  }
  const FittedCoefficients fitted = fit_coefficients(terms, 1, kSlots);
  return {{fitted.seconds_per[0], fitted.seconds_per[1]}, fitted.loss};
}

std::vector<LinkLevel> fit_links(const std::vector<LinkMeasurement>& measurements, Transport transport) {
  std::map<std::tuple<bool, Collective, int64_t>, Rows> curves;
  for (const LinkMeasurement& one : measurements) curves[{one.nodes > 1, one.op, one.ranks}].push_back(&one);
  std::vector<LinkLevel> levels;
  for (const auto& [key, rows] : curves) {
    const char* name = std::get<0>(key) ? "network" : "node";
    if (levels.empty() || levels.back().name != name) levels.push_back({name, {}});
    levels.back().curves.push_back(fit_curve(rows, std::get<0>(key) ? Transport::kLink : transport));
  }
  return levels;
}

}  // namespace counterpoise
