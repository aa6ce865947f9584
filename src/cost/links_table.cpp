// SPDX-License-Identifier: Apache-2.0
#include "base/files.h"
#include "cost/csv_table.h"
#include "counterpoise/error.h"
#include "counterpoise/links.h"

namespace counterpoise {
namespace {

double positive_seconds(const CsvTable& table, size_t row, const char* column) {
  const double us = table.number(row, column);
  if (us <= 0) table.fail(row, column, "a measured time must be above zero");
  return us * 1e-6;
}

LinkMeasurement read_nccl(const CsvTable& table, size_t row) {
  LinkMeasurement one;
  try {
    one.op = parse_collective(table.text(row, "op"));
  } catch (const Error& error) {
    table.fail(row, "op", error.what());
  }
  one.ranks = table.integer(row, "ngpu");
  if (one.ranks < 2) table.fail(row, "ngpu", "must be at least 2");
  one.bytes = table.number(row, "size_bytes");
  one.seconds = positive_seconds(table, row, "t_us_out");
  return one;
}

LinkMeasurement read_send_recv(const CsvTable& table, size_t row) {
  LinkMeasurement one;
  one.nodes = table.integer(row, "num_nodes");
  one.bytes = table.number(row, "size(kb)") * 1024;
  one.seconds = positive_seconds(table, row, "time(us)");
  return one;
}

bool holds_collectives(const CsvTable& table) {
  return table.has("op") && table.has("ngpu") && table.has("size_bytes") && table.has("t_us_out");
}

bool holds_pairs(const CsvTable& table) {
  return table.has("num_nodes") && table.has("size(kb)") && table.has("time(us)");
}

}  // namespace

bool is_link_table(const std::string& path) {
  const CsvTable table(read_file(path), path);
  return holds_collectives(table) || holds_pairs(table);
}

std::vector<LinkMeasurement> read_link_table(const std::string& path) {
  const CsvTable table(read_file(path), path);
  const bool nccl = holds_collectives(table);
  if (!nccl && !holds_pairs(table))
    throw_error(
        ErrorKind::kBadInput,
        "{}: not a table of links: columns op, ngpu, size_bytes, t_us_out, or num_nodes, size(kb), time(us) "
        "are needed; there are: {}",
        path, fmt::join(table.columns(), ", "));
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
