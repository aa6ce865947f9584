// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <compare>
#include <cstdint>
#include <string>
#include <vector>

namespace counterpoise {

enum class SpanKind : uint8_t {
  kAttend,    // an attend op of a rank's program
  kMerge,     // a merge op
  kWait,      // a wait op, from when the rank came to it until it went on
  kTransfer,  // a message: from when the first byte leaves `rank` until the last one is at `peer`
  kReduce,    // the gradient all-reduce that ends the step, from when this rank came to it
};
const char* span_name(SpanKind kind);

// What happened when. Ranks are those of the whole run; seconds count from the step's begin.
struct Span {
  SpanKind kind = SpanKind::kAttend;
  bool backward = false;
  int32_t rank = 0;
  int32_t peer = -1;    // of a transfer: the receiver; of a wait: whom for
  int32_t window = -1;  // of the group's windows
  int32_t index = -1;   // op in the rank's program of the pass; of a transfer: its index in the pass
  double begin = 0;
  double end = 0;

  double seconds() const { return end - begin; }
  auto operator<=>(const Span&) const = default;
};

// One step, simulated or measured; whoever reads it does not ask which.
struct Timeline {
  int32_t ranks = 0;
  std::vector<Span> spans;  // after sort(): by rank, begin, end and what is left

  void sort();
  double end() const;  // of the last span
  auto operator<=>(const Timeline&) const = default;
};

// Where two timelines first differ, in words; empty when they are the same to the last bit.
std::string first_difference(const Timeline& a, const Timeline& b);

}  // namespace counterpoise
