// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "counterpoise/cost_model.h"

namespace counterpoise {

enum class Collective { kSendRecv, kAllGather, kReduceScatter, kAllReduce, kAllToAll };
constexpr Collective kCollectives[] = {Collective::kSendRecv, Collective::kAllGather,
                                       Collective::kReduceScatter, Collective::kAllReduce,
                                       Collective::kAllToAll};
const char* collective_name(Collective op);          // "all_gather"
Collective parse_collective(std::string_view name);  // kUsage with the legal names

// Bytes the busiest rank sends when a ring of `ranks` runs the collective on `bytes`, counted as nccl-tests
// do: the whole gathered or reduced buffer; for send/recv and all-to-all what one rank holds.
//   send_recv b, all_gather and reduce_scatter b (n-1)/n, all_reduce 2 b (n-1)/n, all_to_all b (n-1)/n
double moved_bytes(Collective op, int64_t ranks, double bytes);
// Messages one after the other: 1, n - 1, n - 1, 2 (n - 1), n - 1. 0 with a single rank, save for send_recv.
int64_t ring_steps(Collective op, int64_t ranks);

// time = latency + moved bytes x seconds_per_byte. A library that switches protocol with size has several
// lines and takes the fastest.
struct LinkLine {
  double latency = 0;           // seconds, all steps together
  double seconds_per_byte = 0;  // of moved bytes
};

// One collective among `ranks` ranks.
struct LinkCurve {
  Collective op = Collective::kSendRecv;
  int64_t ranks = 2;
  std::vector<LinkLine> lines;
  double smallest = 0, largest = 0;  // bytes measured
  // Moved bytes that a cache holds, and what each byte beyond them costs more: ranks of one node copy through
  // memory. 0: the same cost for all.
  double near_bytes = 0, far_seconds_per_byte = 0;

  double seconds(double bytes) const;
  // Of moved bytes, with `latency_factor` times the latency.
  double moved_seconds(double moved, double latency_factor = 1) const;
};

// One level of a machine: ranks in a node, or nodes.
struct LinkLevel {
  std::string name;  // "node", "network"
  std::vector<LinkCurve> curves;

  // Seconds of a collective on `bytes` (see moved_bytes); 0 for one rank. Between measured rank counts
  // latency and seconds per byte are interpolated in log ranks, beyond them latency grows with the steps. A
  // collective without a curve is composed of send/recv: steps x latency + moved / bandwidth; kUsage where
  // that is missing too.
  double seconds(Collective op, int64_t ranks, double bytes) const;
  // True where the rank count or the size lies outside what was measured, or the collective was composed.
  bool extrapolated(Collective op, int64_t ranks, double bytes) const;
};

// What messages cost on a cluster. Immutable.
struct Links {
  std::string name, source, device;
  std::string calibration;  // JSON object as text, empty: not recorded
  std::vector<LinkLevel> levels;

  const LinkLevel& level(std::string_view name) const;  // kUsage with the names there are
};

std::vector<std::string> links_names();
// A built-in by name ("h200-nccl", "h100-sendrecv"), a file (schema "counterpoise/links", version 1), or a
// profile that holds links.
Links load_links(const std::string& name_or_path);
std::string links_text(const Links& links);
Links parse_links(std::string_view text, const std::string& file);

// One timed message or collective.
struct LinkMeasurement {
  Collective op = Collective::kSendRecv;
  int64_t ranks = 2;
  int64_t nodes = 1;
  double bytes = 0;
  double seconds = 0;
  std::string device;  // as the table names it, may be empty
  std::string label;
};

// Reads nccl-tests columns (op, ngpu, size_bytes, t_us_out) or the send/recv table's (num_nodes,
// num_gpus_per_node, size(kb), time(us)). kBadInput with file, line and column.
std::vector<LinkMeasurement> read_link_table(const std::string& path);

// What carries the messages of a node. Only copies through memory get a price for bytes beyond a cache.
enum class Transport { kLink, kMemory };

// One curve per (collective, ranks); rows over several nodes make a level "network". A curve gets a second
// protocol line, or a price for bytes beyond a cache, where that explains clearly more. Deterministic.
std::vector<LinkLevel> fit_links(const std::vector<LinkMeasurement>& measurements,
                                 Transport transport = Transport::kLink);

// fit_links with the errors of the fit and of 5-fold cross-validation in its calibration.
Links links_of_table(const std::vector<LinkMeasurement>& measurements, const std::string& file,
                     const std::string& name, Transport transport = Transport::kLink);

// Seconds of what was measured, by the level it belongs to.
double link_seconds(const std::vector<LinkLevel>& levels, const LinkMeasurement& measurement);
bool link_extrapolated(const std::vector<LinkLevel>& levels, const LinkMeasurement& measurement);
// |predicted / measured - 1| over the rows.
ErrorSummary link_errors(const std::vector<LinkLevel>& levels,
                         const std::vector<LinkMeasurement>& measurements);

// Errors on `test` of what others use, each with its factors taken from `fit`: the best bandwidth of any row
// for all and no latency, over bytes as counted or as moved; one line latency + moved bytes / bandwidth for
// all.
std::vector<NaiveError> naive_link_errors(const std::vector<LinkMeasurement>& fit,
                                          const std::vector<LinkMeasurement>& test);

}  // namespace counterpoise
