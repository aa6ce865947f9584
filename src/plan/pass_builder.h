// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "plan/lower.h"
#include "plan/program_order.h"
#include "plan/window_rows.h"

namespace counterpoise {

// Builds one pass of one window: buffers, transfers and programs from the topology's hops, tiles given by the
// caller.
class PassBuilder {
 public:
  PassBuilder(Pass& pass, WindowPlan& window, WindowRows& rows, const Routes& routes,
              const Topology& topology, const AttentionShape& shape, bool backward);

  int32_t input_buffer(int32_t block) const { return inputs_[block]; }
  int32_t result_buffer(int32_t block) const { return results_[block]; }
  // Tiles [first, first + count) are what `rank` attends to at `step`.
  void attend(int32_t rank, int32_t step, int32_t first, int32_t count);
  // All messages, then the programs.
  void finish(const std::vector<Hop>& hops);

 private:
  struct Event {
    int32_t bucket;
    Op op;
  };

  Payload input_payload(bool keys) const;
  Payload result_payload(bool keys) const;
  int32_t add_buffer(int32_t rank, Payload payload, bool home, HeadRange heads, Pieces pieces);
  void add_home_buffers();
  void add_block_buffers();
  void add_hop(const Hop& hop);
  int32_t add_down(const Hop& hop, Pieces pieces);
  int32_t add_up(const Hop& hop, Pieces pieces);
  int32_t add_transfer(int32_t from, int32_t into, Payload payload, HeadRange heads, Pieces pieces);
  void add_event(int32_t rank, int32_t step, Phase phase, Op op);
  void order_programs();
  void number_messages();
  void find_lifetimes();
  void touch(int32_t buffer, int32_t op);

  Pass& pass_;
  WindowPlan& window_;
  WindowRows& rows_;
  const Routes& routes_;
  const Topology& topology_;
  const AttentionShape& shape_;
  const bool backward_;
  std::vector<int32_t> inputs_, results_;  // by block, -1: none
  std::vector<Event> events_;
};

}  // namespace counterpoise
