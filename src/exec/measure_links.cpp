// SPDX-License-Identifier: Apache-2.0
#include "counterpoise/measure_links.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>
#include <set>

#include "counterpoise/attention.h"
#include "counterpoise/error.h"
#include "exec/dates.h"
#include "exec/link_jobs.h"
#include "exec/timing.h"

namespace counterpoise {
namespace {

constexpr int kMostRounds = 50;
constexpr int64_t kBytesPerVisit = 1 << 20;  // small messages are repeated until this has moved
constexpr int64_t kMostRepeats = 8;          // one in the first round, which shows what there is time for
constexpr int64_t kLeastSizes = 8;  // sizes up to so many times the smallest are timed whatever it takes
constexpr double kFirstRoundShare = 0.5;  // of the budget; sizes that come later are left out

double quantile(const std::vector<double>& sorted, double q) {
  return sorted[static_cast<size_t>(q * static_cast<double>(sorted.size() - 1) + 0.5)];
}

// Nodes by what can be mapped: a rank's node is the first rank whose memory it can read.
std::vector<int> find_nodes(Communicator& world) {
  int first = 0;
  while (!world.can_map(first)) ++first;
  std::vector<int> nodes;
  for (const auto& bytes : world.all_gather(std::as_bytes(std::span(&first, 1))))
    std::memcpy(&nodes.emplace_back(), bytes.data(), sizeof(int));
  return nodes;
}

class LinkTimer {
 public:
  LinkTimer(Communicator& world, const LinkTiming& timing, const std::vector<int>& node_of)
      : world_(world),
        timing_(timing),
        jobs_(link_jobs(node_of, timing)),
        samples_(jobs_.size()),
        runner_(world, timing.largest) {}

  // Every job once per round, by ascending size. What the first round has no time for, no round does; the
  // last one ends where the budget does.
  void measure(const std::function<void(const std::string&, double)>& progress) {
    const double begin = wall_seconds();
    for (int round = 0; round < kMostRounds; ++round) {
      const double limit = timing_.budget_seconds * (round == 0 ? kFirstRoundShare : 1);
      for (size_t i = 0; i < jobs_.size(); ++i) {
        const bool larger = i == 0 || jobs_[i].bytes != jobs_[i - 1].bytes;
        const bool must = round == 0 && jobs_[i].bytes <= kLeastSizes * timing_.smallest;
        if (larger && !must && !all_agree(wall_seconds() - begin < limit)) {
          if (round > 0) return;
          jobs_.resize(i);
          samples_.resize(i);
          break;
        }
        visit(jobs_[i], round == 0 ? 1 : kMostRepeats, samples_[i]);
        if (progress)
          progress("timing messages", std::min(1.0, (wall_seconds() - begin) / timing_.budget_seconds));
      }
    }
  }

  TimedLinks gather() {
    TimedLinks timed;
    std::vector<double> spreads;
    for (size_t i = 0; i < jobs_.size(); ++i) {
      std::vector<double> samples = slowest(jobs_[i], samples_[i]);
      std::sort(samples.begin(), samples.end());
      timed.rows.push_back(row(jobs_[i], samples.front()));
      spreads.push_back(quantile(samples, 0.5) / samples.front() - 1);
    }
    // Curve by curve, so that folds of a cross-validation take some rows of each.
    std::stable_sort(timed.rows.begin(), timed.rows.end(), [](const auto& a, const auto& b) {
      return std::tuple(a.nodes, a.op, a.ranks) < std::tuple(b.nodes, b.op, b.ranks);
    });
    std::sort(spreads.begin(), spreads.end());
    timed.noise = quantile(spreads, 0.5);
    timed.transport = world_.name();
    timed.ranks = world_.size();
    return timed;
  }

 private:
  // What rank 0 decides, so that all ranks do the same.
  bool all_agree(bool decision) {
    std::byte byte{decision};
    world_.broadcast({&byte, 1}, 0);
    return byte != std::byte{0};
  }

  void visit(const LinkJob& job, int64_t most_repeats, std::vector<double>& samples) {
    world_.barrier();
    if (!job.takes(world_.rank())) return;
    const int64_t repeats = std::clamp<int64_t>(kBytesPerVisit / job.bytes, 1, most_repeats);
    runner_.run(job);  // pages, connections
    std::vector<double> times;
    for (int64_t i = 0; i < repeats; ++i) times.push_back(runner_.run(job));
    std::sort(times.begin(), times.end());
    if (job.times(world_.rank())) samples.push_back(quantile(times, 0.5));
  }

  // Round by round, that of the slowest rank.
  std::vector<double> slowest(const LinkJob& job, const std::vector<double>& mine) {
    const std::vector<std::vector<std::byte>> all = world_.all_gather(std::as_bytes(std::span(mine)));
    std::vector<double> most;
    for (int rank = 0; rank < world_.size(); ++rank) {
      if (!job.times(rank)) continue;
      const std::vector<std::byte>& bytes = all[static_cast<size_t>(rank)];
      std::vector<double> samples(bytes.size() / sizeof(double));
      std::memcpy(samples.data(), bytes.data(), bytes.size());
      if (most.empty()) most.resize(samples.size());
      CP_CHECK(most.size() == samples.size());
      for (size_t i = 0; i < samples.size(); ++i) most[i] = std::max(most[i], samples[i]);
    }
    return most;
  }

  LinkMeasurement row(const LinkJob& job, double seconds) const {
    LinkMeasurement one{job.op,  job.ranks,  job.nodes, static_cast<double>(job.bytes),
                        seconds, cpu_name(), ""};
    const std::string who = job.op == Collective::kSendRecv
                                ? fmt::format("ranks {} and {}", job.first, job.peer)
                                : fmt::format("ranks {} to {}", job.first, job.first + job.ranks - 1);
    one.label = fmt::format("{} {}, {} bytes", collective_name(job.op), who, job.bytes);
    return one;
  }

  Communicator& world_;
  const LinkTiming& timing_;
  std::vector<LinkJob> jobs_;
  std::vector<std::vector<double>> samples_;  // by job, one per round
  LinkRunner runner_;
};

}  // namespace

TimedLinks measure_links(Communicator& world, const LinkTiming& timing,
                         const std::function<void(const std::string&, double)>& progress) {
  CP_CHECK(timing.smallest >= 1024 && timing.smallest <= timing.largest);
  if (world.size() < 2)
    throw_error(ErrorKind::kInfeasible, "one rank has no links; start two at least: mpirun -n 2");
  const std::vector<int> node_of = timing.node_of.empty() ? find_nodes(world) : timing.node_of;
  CP_CHECK(node_of.size() == static_cast<size_t>(world.size()));
  LinkTimer timer(world, timing, node_of);
  timer.measure(progress);
  TimedLinks timed = timer.gather();
  timed.nodes = static_cast<int>(std::set<int>(node_of.begin(), node_of.end()).size());
  return timed;
}

Links fit_timed_links(const TimedLinks& timed) {
  Links links = links_of_table(timed.rows, "measured rows", "here", Transport::kMemory);
  links.source = fmt::format("measured by counterpoise calibrate: {} ranks on {} node{}, transport {}",
                             timed.ranks, timed.nodes, timed.nodes == 1 ? "" : "s", timed.transport);
  auto record = nlohmann::ordered_json::parse(links.calibration);
  record.erase("table");
  record["date"] = today();
  record["clock"] = "wall clock, best round";
  record["noise"] = timed.noise;
  for (const LinkMeasurement& row : timed.rows) record["grid"].push_back({row.label, row.seconds});
  links.calibration = record.dump();
  return links;
}

}  // namespace counterpoise
