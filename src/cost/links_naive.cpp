// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <functional>

#include "cost/link_line.h"

namespace counterpoise {
namespace {

using Rows = std::vector<LinkMeasurement>;
using Bytes = std::function<double(const LinkMeasurement&)>;

double moved(const LinkMeasurement& row) {
  return moved_bytes(row.op, row.ranks, row.bytes);
}

ErrorSummary errors_of(const Rows& test, const std::function<double(const LinkMeasurement&)>& predict) {
  std::vector<double> predicted, measured;
  for (const LinkMeasurement& row : test) {
    predicted.push_back(predict(row));
    measured.push_back(row.seconds);
  }
  return summarise_errors(predicted, measured);
}

// The best bandwidth that any fitted row reached, for all, and no latency.
ErrorSummary peak_errors(const Rows& fit, const Rows& test, const Bytes& bytes) {
  double peak = 0;
  for (const LinkMeasurement& row : fit) peak = std::max(peak, bytes(row) / row.seconds);
  return errors_of(test, [&](const LinkMeasurement& row) { return bytes(row) / peak; });
}

ErrorSummary one_line_errors(const Rows& fit, const Rows& test) {
  std::vector<const LinkMeasurement*> rows;
  for (const LinkMeasurement& row : fit) rows.push_back(&row);
  const LinkLine line = fit_line(rows).line;
  return errors_of(
      test, [&](const LinkMeasurement& row) { return line.latency + moved(row) * line.seconds_per_byte; });
}

}  // namespace

std::vector<NaiveError> naive_link_errors(const Rows& fit, const Rows& test) {
  if (fit.size() < 2 || test.empty()) return {};
  return {{"bytes / peak bandwidth",
           peak_errors(fit, test, [](const LinkMeasurement& row) { return row.bytes; })},
          {"moved bytes / peak bandwidth", peak_errors(fit, test, moved)},
          {"one latency + bandwidth line", one_line_errors(fit, test)}};
}

}  // namespace counterpoise
