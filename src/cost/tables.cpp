// SPDX-License-Identifier: Apache-2.0
#include "cost/tables.h"

#include <algorithm>

#include "base/files.h"
#include "cost/csv_table.h"
#include "counterpoise/error.h"

namespace counterpoise {
namespace {

constexpr const char* kRoles[] = {"tokens",   "documents", "cp",         "tp",     "heads",
                                  "kv_heads", "head_dim",  "v_head_dim", "dtype",  "steps",
                                  "forward",  "backward",  "q_rows",     "kv_rows"};

// The varlen table: total_len tokens in batch_size documents, a rank's share computed without exchange.
const TableColumns kVarlen = {{"documents", "batch_size"},
                              {"cp", "cp"},
                              {"tp", "tp"},
                              {"heads", "hqo"},
                              {"kv_heads", "hkv"},
                              {"head_dim", "d"},
                              {"forward", "total_latency(ms)"}};
// The forward and backward table: one document, and cp exchanges in a ring.
const TableColumns kRing = {{"tokens", "tokens"},   {"cp", "cp"},           {"steps", "cp"},
                            {"heads", "nhead"},     {"dtype", "dtype"},     {"head_dim", "head_dim"},
                            {"forward", "fwd(us)"}, {"backward", "bwd(us)"}};

TableColumns recognise(const CsvTable& table) {
  for (const TableColumns& known : {kVarlen, kRing})
    if (std::all_of(known.begin(), known.end(), [&](const auto& role) { return table.has(role.second); }))
      return known;
  throw_error(ErrorKind::kBadInput,
              "{}: not a known layout of attention timings; name its columns with --column ROLE=NAME "
              "(roles: {})",
              table.file(), fmt::join(kRoles, ", "));
}

double unit_seconds(const std::string& column) {
  const auto ends = [&](const char* suffix) { return column.ends_with(suffix); };
  if (ends("(ns)") || ends("_ns") || ends(":ns")) return 1e-9;
  if (ends("(us)") || ends("_us") || ends(":us")) return 1e-6;
  if (ends("(ms)") || ends("_ms") || ends(":ms")) return 1e-3;
  return 1;
}

int64_t bytes_of_dtype(const CsvTable& table, size_t row, const std::string& column) {
  const std::string& name = table.text(row, column);
  for (const char* half : {"half", "fp16", "float16", "f16", "bf16", "bfloat16"})
    if (name == half) return 2;
  for (const char* single : {"float", "fp32", "float32", "f32"})
    if (name == single) return 4;
  for (const char* byte : {"fp8", "float8", "e4m3", "e5m2"})
    if (name == byte) return 1;
  table.fail(row, column, fmt::format("unknown dtype '{}'; known: half, bf16, float32, fp8", name));
}

// Reads the cells of one row by role.
class RowReader {
 public:
  RowReader(const CsvTable& table, size_t row, const TableColumns& columns)
      : table_(table), row_(row), columns_(columns) {}

  bool has(const std::string& role) const { return columns_.contains(role); }
  int64_t integer(const std::string& role, int64_t absent) const {
    if (!has(role)) return absent;
    const int64_t value = table_.integer(row_, columns_.at(role));
    if (value < 1) table_.fail(row_, columns_.at(role), "must be at least 1");
    return value;
  }
  double seconds(const std::string& role) const {
    if (!has(role)) return 0;
    std::string column = columns_.at(role);
    const double unit = unit_seconds(column);
    if (!table_.has(column)) column = column.substr(0, column.find_last_of(':'));
    const double value = table_.number(row_, column) * unit;
    if (value <= 0) table_.fail(row_, column, "a measured time must be above zero");
    return value;
  }
  CostShape shape(int64_t tp) const {
    CostShape shape;
    shape.heads = std::max<int64_t>(1, integer("heads", 1) / tp);
    shape.kv_heads = std::max<int64_t>(1, integer("kv_heads", integer("heads", 1)) / tp);
    shape.head_dim = integer("head_dim", 128);
    shape.v_head_dim = integer("v_head_dim", shape.head_dim);
    shape.element_bytes = has("dtype") ? bytes_of_dtype(table_, row_, columns_.at("dtype")) : 2;
    return shape;
  }

 private:
  const CsvTable& table_;
  size_t row_;
  const TableColumns& columns_;
};

WorkShape share(const RowReader& read, const AttentionRow& row, const CostShape& shape) {
  if (read.has("q_rows")) {
    const int64_t q = read.integer("q_rows", 1);
    return causal_share(q, std::max(q, read.integer("kv_rows", 1)), shape);
  }
  const int64_t q = std::max<int64_t>(1, row.tokens / row.cp);
  return causal_share(q, std::max(q, row.tokens * (row.cp + 1) / (2 * row.cp)), shape);
}

AttentionRow read_row(const CsvTable& table, size_t index, const TableColumns& columns) {
  const RowReader read(table, index, columns);
  AttentionRow row;
  row.documents = read.integer("documents", 1);
  row.cp = read.integer("cp", 1);
  row.tp = read.integer("tp", 1);
  row.heads = read.integer("heads", 1);
  if (read.has("tokens"))
    row.tokens = read.integer("tokens", 1);
  else if (table.has("total_len"))
    row.tokens = table.integer(index, "total_len") / row.documents;
  const WorkShape work = share(read, row, read.shape(row.tp));
  row.forward.tiles.assign(static_cast<size_t>(row.documents), work);
  row.forward.steps = read.integer("steps", 1);
  row.forward.label =
      fmt::format("line {}: {} x {} tokens, cp {}, {} heads", table.line(index), row.documents,
                  row.tokens > 0 ? row.tokens : work.q_rows, row.cp, work.shape.heads);
  row.backward = row.forward;
  row.backward.direction = Direction::kBackward;
  row.forward.seconds = read.seconds("forward");
  row.backward.seconds = read.seconds("backward");
  return row;
}

std::string device_of(const CsvTable& table) {
  for (const char* column : {"gpu", "gpu_type", "device"})
    if (table.has(column)) return table.text(0, column);
  return "unknown device";
}

}  // namespace

std::vector<Measurement> AttentionTable::measurements(Direction direction) const {
  std::vector<Measurement> all;
  for (const AttentionRow& row : rows)
    all.push_back(direction == Direction::kForward ? row.forward : row.backward);
  return all;
}

AttentionTable read_attention_table(const std::string& path, const TableColumns& named) {
  const CsvTable table(read_file(path), path);
  const TableColumns columns = named.empty() ? recognise(table) : named;
  if (!columns.contains("forward") && !columns.contains("backward"))
    throw_error(ErrorKind::kUsage, "--column needs forward=NAME or backward=NAME: the time of a row");
  if (!columns.contains("tokens") && !(columns.contains("q_rows") && columns.contains("kv_rows")) &&
      !table.has("total_len"))
    throw_error(ErrorKind::kUsage, "--column needs tokens=NAME, or q_rows=NAME and kv_rows=NAME");
  AttentionTable result{
      path, device_of(table), columns.contains("forward"), columns.contains("backward"), {}};
  for (size_t row = 0; row < table.rows(); ++row) result.rows.push_back(read_row(table, row, columns));
  return result;
}

void add_column(TableColumns& columns, const std::string& assignment) {
  const size_t equals = assignment.find('=');
  const std::string role = assignment.substr(0, equals);
  if (equals == std::string::npos ||
      std::find(std::begin(kRoles), std::end(kRoles), role) == std::end(kRoles))
    throw_error(ErrorKind::kUsage, "--column takes ROLE=NAME; '{}' is not one of {}", role,
                fmt::join(kRoles, ", "));
  columns[role] = assignment.substr(equals + 1);
}

}  // namespace counterpoise
