// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <vector>

namespace counterpoise {

// Ascending positive positions of a table, looked up on a logarithmic axis; outside the ends it holds.
class LogAxis {
 public:
  explicit LogAxis(std::vector<double> positions);

  // x lies between positions[cell] (weight 1 - fraction) and positions[cell + 1] (weight fraction).
  struct Place {
    size_t cell;
    double fraction;
  };
  Place find(double x) const;

  const std::vector<double>& positions() const { return positions_; }
  size_t size() const { return positions_.size(); }
  double front() const { return positions_.front(); }
  double back() const { return positions_.back(); }

 private:
  std::vector<double> positions_, logs_;
};

// values[i] at axis.positions()[i], linear in log x between them.
double interpolate(const LogAxis& axis, const std::vector<double>& values, double x);

// values[i][j] at (rows.positions()[i], columns.positions()[j]), bilinear in (log x, log y).
double interpolate(const LogAxis& rows, const LogAxis& columns,
                   const std::vector<std::vector<double>>& values, double x, double y);

}  // namespace counterpoise
