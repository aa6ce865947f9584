// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "cost/tables.h"
#include "counterpoise/validate.h"

namespace counterpoise {

// Rows of one direction of a table, cut in two.
struct TableSplit {
  std::vector<const AttentionRow*> fit, test;
};

template <typename Predicate>
TableSplit split_rows(const AttentionTable& table, Predicate is_fit) {
  TableSplit split;
  for (const AttentionRow& row : table.rows) (is_fit(row) ? split.fit : split.test).push_back(&row);
  return split;
}

std::vector<Measurement> measurements_of(const std::vector<const AttentionRow*>& rows, Direction direction);
std::vector<NaiveInput> naive_inputs(const std::vector<const AttentionRow*>& rows, Direction direction);

// Fills fit, test, naive, worst and anomalies from a model fitted to the first half of the split. Anomalies
// are rows of the table that a robust fit to all of it misses by more than `anomaly` (ln of a factor).
void compare_split(ValidationPart& part, const TableSplit& split, Direction direction,
                   const DirectionModel& model);
void list_anomalies(ValidationPart& part, const AttentionTable& table, Direction direction,
                    const FitOptions& options);

// The cases sorted by their relative error, or their difference, worst first, at most `count`.
std::vector<ValidationCase> worst_cases(std::vector<ValidationCase> cases, size_t count,
                                        bool differences = false);

// Log-log interpolation in the token count between the nearest fitted rows of equal cp and heads (at the
// ends along the nearest two), tested on the others.
ErrorSummary interpolation_errors(const TableSplit& split, Direction direction);

}  // namespace counterpoise
