// SPDX-License-Identifier: Apache-2.0
#include "cost/tables.h"

#include <algorithm>

#include "base/files.h"
#include "cost/csv_table.h"
#include "cost/time_column.h"
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

// A table holds less; more would only exhaust memory or 64 bits.
constexpr int64_t kMostDocuments = 1 << 20, kMostDocumentsOfATable = 1 << 22;
constexpr int64_t kMostTokens = 1 << 30, kMostOther = 1 << 20;

int64_t most_of(const std::string& role) {
  if (role == "tokens" || role == "q_rows" || role == "kv_rows") return kMostTokens;
  return role == "documents" ? kMostDocuments : kMostOther;
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
    if (value > most_of(role))
      table_.fail(row_, columns_.at(role), fmt::format("{} is more than {}", value, most_of(role)));
    return value;
  }
  double seconds(const std::string& role) const {
    return has(role) ? read_seconds(table_, row_, time_column(table_, columns_.at(role))) : 0;
  }
  CostShape shape(int64_t tp) const {
    const int64_t heads = integer("heads", 1), kv_heads = integer("kv_heads", heads);
    if (heads % tp != 0) fail("heads", fmt::format("{} heads cannot be divided by tp = {}", heads, tp));
    if (heads % kv_heads != 0)
      fail("kv_heads", fmt::format("{} kv heads do not divide {} query heads", kv_heads, heads));
    CostShape shape;
    shape.heads = heads / tp;
    shape.kv_heads = std::max<int64_t>(1, kv_heads / tp);
    shape.head_dim = integer("head_dim", 128);
    shape.v_head_dim = integer("v_head_dim", shape.head_dim);
    shape.element_bytes = has("dtype") ? bytes_of_dtype(table_, row_, columns_.at("dtype")) : 2;
    return shape;
  }

  // About the column of a role, or about the whole row where no column plays it.
  [[noreturn]] void fail(const std::string& role, const std::string& reason) const {
    if (has(role)) table_.fail(row_, columns_.at(role), reason);
    throw_error(ErrorKind::kBadInput, "{}:{}: {}", table_.file(), table_.line(row_), reason);
  }

 private:
  const CsvTable& table_;
  size_t row_;
  const TableColumns& columns_;
};

WorkShape share(const RowReader& read, const AttentionRow& row, const CostShape& shape) {
  if (read.has("q_rows")) {
    const int64_t q = read.integer("q_rows", 1), kv = read.integer("kv_rows", 1);
    if (q > kv) read.fail("q_rows", fmt::format("{} q rows see only {} kv rows, causally", q, kv));
    return causal_share(q, kv, shape);
  }
  const int64_t q = std::max<int64_t>(1, row.tokens / row.cp);
  return causal_share(q, std::max(q, row.tokens * (row.cp + 1) / (2 * row.cp)), shape);
}

int64_t tokens_of_total(const CsvTable& table, size_t row, int64_t documents) {
  const int64_t total = table.integer(row, "total_len");
  if (total < documents || total > kMostTokens)
    table.fail(row, "total_len", fmt::format("{} tokens in {} documents", total, documents));
  return total / documents;
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
    row.tokens = tokens_of_total(table, index, row.documents);
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
  return read_attention_table(CsvTable(read_file(path), path), named);
}

AttentionTable read_attention_table(const CsvTable& table, const TableColumns& named) {
  const TableColumns columns = named.empty() ? recognise(table) : named;
  if (!columns.contains("forward") && !columns.contains("backward"))
    throw_error(ErrorKind::kUsage, "--column needs forward=NAME or backward=NAME: the time of a row");
  if (!columns.contains("tokens") && !(columns.contains("q_rows") && columns.contains("kv_rows")) &&
      !table.has("total_len"))
    throw_error(ErrorKind::kUsage, "--column needs tokens=NAME, or q_rows=NAME and kv_rows=NAME");
  AttentionTable result{
      table.file(), device_of(table), columns.contains("forward"), columns.contains("backward"), {}};
  int64_t documents = 0;
  for (size_t row = 0; row < table.rows(); ++row) {
    result.rows.push_back(read_row(table, row, columns));
    documents += result.rows.back().documents;
    if (documents > kMostDocumentsOfATable)
      throw_error(ErrorKind::kBadInput, "{}:{}: more than {} documents up to here; leave rows out",
                  table.file(), table.line(row), kMostDocumentsOfATable);
  }
  return result;
}

void add_column(TableColumns& columns, const std::string& assignment) {
  const size_t equals = assignment.find('=');
  const std::string role = assignment.substr(0, equals);
  if (equals == std::string::npos ||
      std::find(std::begin(kRoles), std::end(kRoles), role) == std::end(kRoles))
    throw_error(ErrorKind::kUsage, "--column takes ROLE=NAME; '{}' is not one of {}", role,
                fmt::join(kRoles, ", "));
  if (equals + 1 == assignment.size())
    throw_error(ErrorKind::kUsage, "--column {} names no column of the table", assignment);
  if (!columns.emplace(role, assignment.substr(equals + 1)).second)
    throw_error(ErrorKind::kUsage, "--column names {} twice: {} and {}", role, columns[role],
                assignment.substr(equals + 1));
}

}  // namespace counterpoise
