// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "counterpoise/communicator.h"
#include "counterpoise/plan.h"
#include "counterpoise/prices.h"
#include "counterpoise/timeline.h"

namespace counterpoise {

// The pass that runs, and this rank in its group.
struct PassContext {
  const StepPlan* plan = nullptr;
  const WindowPlan* window = nullptr;
  const Pass* pass = nullptr;
  bool backward = false;
  int32_t group = 0;
  int32_t window_index = 0;
  int32_t rank = 0;
};

// What the ops of a program do. Real (tensors and attention) or priced (nothing, at a price). Transfers,
// tiles and merges are named by their index in the pass. Called by one thread.
class Kernel {
 public:
  virtual ~Kernel() = default;
  virtual void begin_pass(const PassContext& context) = 0;
  virtual void end_pass() = 0;
  // Around every op: buffers come to life and die with ops.
  virtual void before_op(int32_t op) = 0;
  virtual void after_op(int32_t op) = 0;
  // Both return the seconds a virtual clock must charge; 0 where real time passes.
  virtual double attend(std::span<const Tile> tiles) = 0;
  virtual double merge(int32_t merge) = 0;
  // The bytes of a message at its sender, valid until sent(); where they go at its receiver, until
  // received().
  virtual std::span<const std::byte> outgoing(int32_t transfer) = 0;
  virtual void sent(int32_t transfer) = 0;
  virtual std::span<std::byte> incoming(int32_t transfer) = 0;
  virtual void received(int32_t transfer) = 0;
};

// One message on its way, as a clock sees it.
struct Flight {
  double begin = 0;    // first byte leaves the port
  double left = 0;     // last byte has left
  double arrival = 0;  // last byte is there
};

class Clock {
 public:
  virtual ~Clock() = default;
  virtual bool is_virtual() const = 0;
  virtual double now() const = 0;
  virtual void start_step() = 0;  // now() counts from here
  // A real clock ignores the next three: its time passes by itself.
  virtual void spend(double seconds) = 0;
  virtual void advance_to(double time) = 0;
  virtual Flight depart(int32_t src, int32_t dst, int64_t bytes) = 0;
};

std::unique_ptr<Clock> make_real_clock();
// A rank's own virtual time. Arrival times travel inside the messages, so no global order is needed.
std::unique_ptr<Clock> make_virtual_clock(const Prices& prices);
// Does nothing, at a price.
std::unique_ptr<Kernel> make_priced_kernel(const Prices& prices);

// Runs this rank's share of a step: its group's windows one after another, forward before backward. `world`
// has plan.dp() * plan.cp ranks. Returns this rank's spans (transfers: those it sent), sorted.
Timeline execute_windows(const StepPlan& plan, Communicator& world, Kernel& kernel, Clock& clock);

// Ends the step: all-reduces `gradient` over all ranks (on a virtual clock: for the given price) and appends
// the span. Waiting for the slowest group happens here.
void reduce_gradient(Communicator& world, Clock& clock, std::span<float> gradient, double price,
                     Timeline& timeline);

// Sixteen hex digits over everything in the plan. Equal plans, equal hashes.
std::string plan_fingerprint(const StepPlan& plan);
// Throws kCheckFailed naming the first rank whose plan differs from rank 0's. Collective; the first messages
// of a run.
void compare_plans(const StepPlan& plan, Communicator& world);

// Every rank's spans at every rank, sorted.
Timeline gather_timeline(const Timeline& mine, Communicator& world);

}  // namespace counterpoise
