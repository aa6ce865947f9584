// SPDX-License-Identifier: Apache-2.0
#include "counterpoise/timeline.h"

#include <algorithm>
#include <tuple>

#include "counterpoise/error.h"

namespace counterpoise {
namespace {

auto order_of(const Span& s) {
  return std::tuple(s.rank, s.begin, s.end, s.window, s.backward, s.kind, s.index, s.peer);
}

std::string words(const Span& s) {
  return fmt::format("{} of rank {} (peer {}, window {}, {}, index {}) [{:.17g}, {:.17g}]", span_name(s.kind),
                     s.rank, s.peer, s.window, s.backward ? "backward" : "forward", s.index, s.begin, s.end);
}

}  // namespace

const char* span_name(SpanKind kind) {
  constexpr const char* kNames[] = {"attend", "merge", "wait", "transfer", "reduce"};
  return kNames[static_cast<size_t>(kind)];
}

void Timeline::sort() {
  std::sort(spans.begin(), spans.end(),
            [](const Span& a, const Span& b) { return order_of(a) < order_of(b); });
}

double Timeline::end() const {
  double last = 0;
  for (const Span& span : spans) last = std::max(last, span.end);
  return last;
}

std::string first_difference(const Timeline& a, const Timeline& b) {
  if (a.ranks != b.ranks) return fmt::format("{} ranks against {}", a.ranks, b.ranks);
  const size_t common = std::min(a.spans.size(), b.spans.size());
  for (size_t i = 0; i < common; ++i) {
    if (a.spans[i] != b.spans[i])
      return fmt::format("span {}: {} against {}", i, words(a.spans[i]), words(b.spans[i]));
  }
  if (a.spans.size() != b.spans.size())
    return fmt::format("{} spans against {}", a.spans.size(), b.spans.size());
  return {};
}

}  // namespace counterpoise
