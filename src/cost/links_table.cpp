// SPDX-License-Identifier: Apache-2.0
#include "base/files.h"
#include "cost/tables.h"
#include "cost/time_column.h"
#include "counterpoise/error.h"
#include "counterpoise/links.h"

namespace counterpoise {
namespace {

constexpr int64_t kMostRanks = 1 << 20;
constexpr double kMostBytes = 0x1p50;

double bytes_of(const CsvTable& table, size_t row, const char* column, double unit) {
  const double bytes = table.number(row, column) * unit;
  if (bytes > kMostBytes) table.fail(row, column, fmt::format("{:g} bytes are more than 2^50", bytes));
  return bytes;
}

int64_t count_of(const CsvTable& table, size_t row, const char* column, int64_t least) {
  const int64_t count = table.integer(row, column);
  if (count < least || count > kMostRanks)
    table.fail(row, column, fmt::format("{} is not from {} to {}", count, least, kMostRanks));
  return count;
}

LinkMeasurement read_nccl(const CsvTable& table, size_t row) {
  LinkMeasurement one;
  try {
    one.op = parse_collective(table.text(row, "op"));
  } catch (const Error& error) {
    table.fail(row, "op", error.what());
  }
  one.ranks = count_of(table, row, "ngpu", 2);
  one.bytes = bytes_of(table, row, "size_bytes", 1);
  one.seconds = read_seconds(table, row, {"t_us_out", 1e-6});
  return one;
}

LinkMeasurement read_send_recv(const CsvTable& table, size_t row) {
  LinkMeasurement one;
  one.nodes = count_of(table, row, "num_nodes", 1);
  one.bytes = bytes_of(table, row, "size(kb)", 1024);
  one.seconds = read_seconds(table, row, {"time(us)", 1e-6});
  return one;
}

bool holds_collectives(const CsvTable& table) {
  return table.has("op") && table.has("ngpu") && table.has("size_bytes") && table.has("t_us_out");
}

bool holds_pairs(const CsvTable& table) {
  return table.has("num_nodes") && table.has("size(kb)") && table.has("time(us)");
}

}  // namespace

bool is_link_table(const CsvTable& table) {
  return holds_collectives(table) || holds_pairs(table);
}

std::vector<LinkMeasurement> read_link_table(const std::string& path) {
  return read_link_table(CsvTable(read_file(path), path));
}

std::vector<LinkMeasurement> read_link_table(const CsvTable& table) {
  const bool nccl = holds_collectives(table);
  if (!nccl && !holds_pairs(table))
    throw_error(
        ErrorKind::kBadInput,
        "{}: not a table of links: columns op, ngpu, size_bytes, t_us_out, or num_nodes, size(kb), time(us) "
        "are needed; there are: {}",
        table.file(), fmt::join(table.columns(), ", "));
  std::vector<LinkMeasurement> all;
  for (size_t row = 0; row < table.rows(); ++row) {
    all.push_back(nccl ? read_nccl(table, row) : read_send_recv(table, row));
    if (table.has("gpu")) all.back().device = table.text(row, "gpu");
    all.back().label = fmt::format("line {}: {} among {}, {:.0f} bytes", table.line(row),
                                   collective_name(all.back().op), all.back().ranks, all.back().bytes);
  }
  return all;
}

}  // namespace counterpoise
