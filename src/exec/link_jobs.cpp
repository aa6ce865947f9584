// SPDX-License-Identifier: Apache-2.0
#include "exec/link_jobs.h"

#include <algorithm>
#include <set>

#include "counterpoise/error.h"
#include "exec/timing.h"

namespace counterpoise {
namespace {

constexpr int kTag = 77;
constexpr size_t kMostPairs = 8;  // of a level
constexpr Collective kTimed[] = {Collective::kAllGather, Collective::kAllReduce, Collective::kAllToAll};

// Pairs of one level, evenly thinned out: every pair would be ranks^2.
std::vector<LinkJob> pairs(const std::vector<int>& node_of, bool across) {
  const int ranks = static_cast<int>(node_of.size());
  std::vector<LinkJob> all, kept;
  for (int a = 0; a < ranks; ++a)
    for (int b = a + 1; b < ranks; ++b)
      if ((node_of[static_cast<size_t>(a)] != node_of[static_cast<size_t>(b)]) == across)
        all.push_back({Collective::kSendRecv, a, 2, b, across ? 2 : 1, 0});
  const size_t count = std::min(all.size(), kMostPairs);
  for (size_t i = 0; i < count; ++i) kept.push_back(all[i * all.size() / count]);
  return kept;
}

// The longest run of ranks of one node: groups of a communicator are contiguous.
std::pair<int, int> longest_run(const std::vector<int>& node_of) {
  std::pair<int, int> longest{0, 0};
  for (int begin = 0, end = 0; end < static_cast<int>(node_of.size()); begin = end) {
    while (end < static_cast<int>(node_of.size()) &&
           node_of[static_cast<size_t>(end)] == node_of[static_cast<size_t>(begin)])
      ++end;
    if (end - begin > longest.second) longest = {begin, end - begin};
  }
  return longest;
}

// 2, 4, 8 ... and all.
std::vector<int> group_sizes(int ranks) {
  std::vector<int> sizes;
  for (int size = 2; size < ranks; size *= 2) sizes.push_back(size);
  if (ranks >= 2) sizes.push_back(ranks);
  return sizes;
}

int nodes_among(const std::vector<int>& node_of, int first, int ranks) {
  return static_cast<int>(std::set<int>(node_of.begin() + first, node_of.begin() + first + ranks).size());
}

std::vector<LinkJob> collectives(const std::vector<int>& node_of) {
  std::vector<LinkJob> jobs;
  const auto [first, run] = longest_run(node_of);
  for (const int ranks : group_sizes(run))
    for (const Collective op : kTimed) jobs.push_back({op, first, ranks, 0, 1, 0});
  for (const int ranks : group_sizes(static_cast<int>(node_of.size()))) {
    const int nodes = nodes_among(node_of, 0, ranks);
    if (nodes < 2) continue;
    for (const Collective op : kTimed) jobs.push_back({op, 0, ranks, 0, nodes, 0});
  }
  return jobs;
}

}  // namespace

std::vector<LinkJob> link_jobs(const std::vector<int>& node_of, const LinkTiming& timing) {
  std::vector<LinkJob> kinds = pairs(node_of, false), jobs;
  for (const LinkJob& job : pairs(node_of, true)) kinds.push_back(job);
  for (const LinkJob& job : collectives(node_of)) kinds.push_back(job);
  for (int64_t bytes = timing.smallest; bytes <= timing.largest; bytes *= 2)
    for (LinkJob job : kinds) {
      job.bytes = bytes;
      jobs.push_back(job);
    }
  return jobs;
}

LinkRunner::LinkRunner(Communicator& world, int64_t largest)
    : world_(world),
      data_(static_cast<size_t>(largest / static_cast<int64_t>(sizeof(float)))),
      in_(static_cast<size_t>(largest)) {}

std::span<const std::byte> LinkRunner::out(int64_t begin, int64_t bytes) const {
  return std::as_bytes(std::span(data_)).subspan(static_cast<size_t>(begin), static_cast<size_t>(bytes));
}

double LinkRunner::run(const LinkJob& job) {
  if (job.op == Collective::kSendRecv) return round_trip(job) / 2;
  const auto group = make_group(world_, job.first, job.ranks);
  group->barrier();
  const double begin = wall_seconds();
  collective(*group, job);
  return wall_seconds() - begin;
}

// The first message comes after an empty one from the peer, so that neither waits for the other to arrive.
double LinkRunner::round_trip(const LinkJob& job) {
  const bool leads = world_.rank() == job.first;
  const int peer = leads ? job.peer : job.first;
  const auto in = std::span(in_).first(static_cast<size_t>(job.bytes));
  const Awaited awaited{Phase::kReceiving, -1, peer};
  if (leads) {
    world_.wait(world_.irecv(peer, kTag, {}), awaited);
  } else {
    world_.wait(world_.isend(peer, kTag, {}), {Phase::kSending, -1, peer});
  }
  const double begin = wall_seconds();
  if (leads) world_.wait(world_.isend(peer, kTag, out(0, job.bytes)), {Phase::kSending, -1, peer});
  world_.wait(world_.irecv(peer, kTag, in), awaited);
  if (!leads) world_.wait(world_.isend(peer, kTag, out(0, job.bytes)), {Phase::kSending, -1, peer});
  return wall_seconds() - begin;
}

void LinkRunner::collective(Communicator& group, const LinkJob& job) {
  const int64_t share = job.bytes / job.ranks;
  switch (job.op) {
    case Collective::kAllGather:
      group.all_gather(out(0, share));
      return;
    case Collective::kAllReduce:
      group.all_reduce_sum(
          std::span(data_).first(static_cast<size_t>(job.bytes / static_cast<int64_t>(sizeof(float)))));
      return;
    case Collective::kAllToAll:
      return all_to_all(group, share);
    default:
      CP_CHECK(false);
  }
}

// Every rank to every other at once, as the plans of scheme all_to_all send.
void LinkRunner::all_to_all(Communicator& group, int64_t bytes) {
  std::vector<std::pair<Communicator::Request, Awaited>> requests;
  for (int distance = 1; distance < group.size(); ++distance) {
    const int from = (group.rank() + group.size() - distance) % group.size();
    const auto into = std::span(in_).subspan(static_cast<size_t>(from * bytes), static_cast<size_t>(bytes));
    requests.emplace_back(group.irecv(from, kTag, into), Awaited{Phase::kReceiving, -1, from});
  }
  for (int distance = 1; distance < group.size(); ++distance) {
    const int to = (group.rank() + distance) % group.size();
    requests.emplace_back(group.isend(to, kTag, out(to * bytes, bytes)), Awaited{Phase::kSending, -1, to});
  }
  for (const auto& [request, awaited] : requests) group.wait(request, awaited);
}

}  // namespace counterpoise
