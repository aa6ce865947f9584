// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <map>
#include <string>
#include <vector>

#include "cost/csv_table.h"
#include "counterpoise/cost_model.h"
#include "counterpoise/links.h"

namespace counterpoise {

// How a table names what a row timed: role -> column. A time column may carry its unit after a colon
// ("elapsed:ms"), else its name tells ("fwd(us)", "time_ms"); without either it is seconds. Roles:
//   tokens (length of each document), documents (per call, default 1), cp (1), tp (1: divides both head
//   counts), heads, kv_heads (heads), head_dim, v_head_dim (head_dim), dtype (half), steps (1),
//   forward, backward (at least one). A cp = c row is one rank's share: tokens / c query rows against
//   tokens (c + 1) / (2 c) keys, causal. q_rows and kv_rows, both given, replace tokens and cp.
using TableColumns = std::map<std::string, std::string>;

// One row of a table of attention calls.
struct AttentionRow {
  int64_t tokens = 0, documents = 1, cp = 1, tp = 1, heads = 0;
  Measurement forward, backward;  // seconds 0 where the table has none
};

struct AttentionTable {
  std::string file, device;
  bool has_forward = false, has_backward = false;
  std::vector<AttentionRow> rows;

  std::vector<Measurement> measurements(Direction direction) const;
};

// Reads a table of attention calls; without `columns` the layouts of the two tables in docs/cost.md are
// recognised by their header. Bad rows: kBadInput with file, line and column.
AttentionTable read_attention_table(const std::string& path, const TableColumns& columns = {});
AttentionTable read_attention_table(const CsvTable& table, const TableColumns& columns = {});

// By its columns a table of messages or collectives.
bool is_link_table(const CsvTable& table);
std::vector<LinkMeasurement> read_link_table(const CsvTable& table);

// "tokens=seqlen" -> columns["tokens"] = "seqlen"; kUsage names an unknown role, and one
// that is given twice.
void add_column(TableColumns& columns, const std::string& assignment);

}  // namespace counterpoise
