// SPDX-License-Identifier: Apache-2.0
#include "counterpoise/links.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "counterpoise/error.h"

namespace counterpoise {
namespace {

constexpr const char* kNames[] = {"send_recv", "all_gather", "reduce_scatter", "all_reduce", "all_to_all"};

// Curves of one collective, ascending in ranks.
std::vector<const LinkCurve*> curves_of(const LinkLevel& level, Collective op) {
  std::vector<const LinkCurve*> found;
  for (const LinkCurve& curve : level.curves)
    if (curve.op == op) found.push_back(&curve);
  std::sort(found.begin(), found.end(), [](auto* a, auto* b) { return a->ranks < b->ranks; });
  return found;
}

// Beyond the last measured group: the same bandwidth, the latency of as many more steps.
double beyond(const LinkCurve& curve, int64_t ranks, double bytes) {
  const double steps = static_cast<double>(ring_steps(curve.op, ranks)) /
                       static_cast<double>(ring_steps(curve.op, curve.ranks));
  return curve.moved_seconds(moved_bytes(curve.op, ranks, bytes), steps);
}

double between(const LinkCurve& low, const LinkCurve& high, int64_t ranks, double bytes) {
  const double part = std::log(static_cast<double>(ranks) / static_cast<double>(low.ranks)) /
                      std::log(static_cast<double>(high.ranks) / static_cast<double>(low.ranks));
  // Equal moved bytes on both sides, so that only latency and bandwidth are interpolated.
  const double moved = moved_bytes(low.op, ranks, bytes);
  const auto at = [&](const LinkCurve& curve) {
    return curve.seconds(moved / moved_bytes(curve.op, curve.ranks, 1));
  };
  return at(low) + part * (at(high) - at(low));
}

double composed(const LinkLevel& level, Collective op, int64_t ranks, double bytes) {
  const std::vector<const LinkCurve*> single = curves_of(level, Collective::kSendRecv);
  if (single.empty())
    throw_error(ErrorKind::kUsage, "links of level '{}' were not measured for {}{}", level.name,
                collective_name(op),
                op == Collective::kSendRecv ? "" : ", nor for send_recv to compose it of");
  const double steps = static_cast<double>(ring_steps(op, ranks));
  return steps * single.front()->seconds(moved_bytes(op, ranks, bytes) / steps);
}

}  // namespace

const char* collective_name(Collective op) {
  return kNames[static_cast<size_t>(op)];
}

Collective parse_collective(std::string_view name) {
  for (const Collective op : kCollectives)
    if (name == collective_name(op)) return op;
  throw_error(ErrorKind::kUsage, "'{}' is not a collective; there are {}", name, fmt::join(kNames, ", "));
}

double moved_bytes(Collective op, int64_t ranks, double bytes) {
  const double n = static_cast<double>(ranks);
  if (op == Collective::kSendRecv) return bytes;
  return (op == Collective::kAllReduce ? 2 : 1) * bytes * (n - 1) / n;
}

int64_t ring_steps(Collective op, int64_t ranks) {
  if (op == Collective::kSendRecv) return 1;
  return (op == Collective::kAllReduce ? 2 : 1) * (ranks - 1);
}

double LinkCurve::seconds(double bytes) const {
  return moved_seconds(moved_bytes(op, ranks, bytes));
}

double LinkCurve::moved_seconds(double moved, double latency_factor) const {
  double best = std::numeric_limits<double>::infinity();
  for (const LinkLine& line : lines)
    best = std::min(best, line.latency * latency_factor + moved * line.seconds_per_byte);
  return best + std::max(0.0, moved - near_bytes) * far_seconds_per_byte;
}

double LinkLevel::seconds(Collective op, int64_t ranks, double bytes) const {
  CP_CHECK(ranks >= 1 && bytes >= 0);
  if (ranks == 1) return 0;
  const std::vector<const LinkCurve*> of_op = curves_of(*this, op);
  if (of_op.empty()) return composed(*this, op, ranks, bytes);
  if (op == Collective::kSendRecv) return of_op.front()->seconds(bytes);
  if (ranks <= of_op.front()->ranks) return beyond(*of_op.front(), ranks, bytes);
  for (size_t i = 1; i < of_op.size(); ++i)
    if (ranks <= of_op[i]->ranks) return between(*of_op[i - 1], *of_op[i], ranks, bytes);
  return beyond(*of_op.back(), ranks, bytes);
}

bool LinkLevel::extrapolated(Collective op, int64_t ranks, double bytes) const {
  if (ranks == 1) return false;
  const std::vector<const LinkCurve*> of_op = curves_of(*this, op);
  if (of_op.empty()) return true;
  const bool size = bytes < of_op.front()->smallest || bytes > of_op.front()->largest;
  if (op == Collective::kSendRecv) return size;
  return size || ranks < of_op.front()->ranks || ranks > of_op.back()->ranks;
}

const LinkLevel& Links::level(std::string_view wanted) const {
  std::vector<std::string> names;
  for (const LinkLevel& one : levels) {
    if (one.name == wanted) return one;
    names.push_back(one.name);
  }
  throw_error(ErrorKind::kUsage, "links '{}' have no level '{}'; there are: {}", name, wanted,
              fmt::join(names, ", "));
}

}  // namespace counterpoise
