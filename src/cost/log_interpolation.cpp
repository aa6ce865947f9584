// SPDX-License-Identifier: Apache-2.0
#include "cost/log_interpolation.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "counterpoise/error.h"

namespace counterpoise {

LogAxis::LogAxis(std::vector<double> positions) : positions_(std::move(positions)) {
  CP_CHECK(!positions_.empty() && positions_.front() > 0);
  CP_CHECK(std::is_sorted(positions_.begin(), positions_.end(), std::less_equal<>()));
  for (const double x : positions_) logs_.push_back(std::log(x));
}

LogAxis::Place LogAxis::find(double x) const {
  if (x <= positions_.front() || size() == 1) return {0, 0.0};
  if (x >= positions_.back()) return {size() - 2, 1.0};
  const auto above = std::upper_bound(positions_.begin(), positions_.end(), x) - positions_.begin();
  const size_t cell = static_cast<size_t>(above) - 1;
  return {cell, (std::log(x) - logs_[cell]) / (logs_[cell + 1] - logs_[cell])};
}

namespace {

double mix(double a, double b, double fraction) {
  return a + fraction * (b - a);
}

double at(const std::vector<double>& values, LogAxis::Place place) {
  if (place.fraction == 0) return values[place.cell];
  return mix(values[place.cell], values[place.cell + 1], place.fraction);
}

}  // namespace

double interpolate(const LogAxis& axis, const std::vector<double>& values, double x) {
  return at(values, axis.find(x));
}

double interpolate(const LogAxis& rows, const LogAxis& columns,
                   const std::vector<std::vector<double>>& values, double x, double y) {
  const LogAxis::Place row = rows.find(x), column = columns.find(y);
  const double low = at(values[row.cell], column);
  if (row.fraction == 0) return low;
  return mix(low, at(values[row.cell + 1], column), row.fraction);
}

}  // namespace counterpoise
