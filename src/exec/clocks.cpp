// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>

#include "counterpoise/execute.h"

namespace counterpoise {
namespace {

class RealClock final : public Clock {
 public:
  bool is_virtual() const override { return false; }
  double now() const override { return std::chrono::duration<double>(Steady::now() - start_).count(); }
  void start_step() override { start_ = Steady::now(); }
  void spend(double) override {}
  void advance_to(double) override {}
  Flight depart(int32_t, int32_t, int64_t) override {
    const double time = now();
    return {time, time, time};  // the caller finds out when it has left
  }

 private:
  using Steady = std::chrono::steady_clock;
  Steady::time_point start_ = Steady::now();
};

class VirtualClock final : public Clock {
 public:
  explicit VirtualClock(const Prices& prices) : prices_(prices) {}
  bool is_virtual() const override { return true; }
  double now() const override { return now_; }
  void start_step() override { now_ = port_free_ = 0; }
  void spend(double seconds) override { now_ += seconds; }
  void advance_to(double time) override { now_ = std::max(now_, time); }
  Flight depart(int32_t src, int32_t dst, int64_t bytes) override {
    const Link link = prices_.link(src, dst, bytes);
    Flight flight;
    flight.begin = std::max(now_, port_free_);
    flight.left = flight.begin + static_cast<double>(bytes) / link.bytes_per_second;
    flight.arrival = flight.left + link.latency;
    port_free_ = flight.left;
    return flight;
  }

 private:
  const Prices& prices_;
  double now_ = 0;
  double port_free_ = 0;
};

}  // namespace

std::unique_ptr<Clock> make_real_clock() {
  return std::make_unique<RealClock>();
}
std::unique_ptr<Clock> make_virtual_clock(const Prices& prices) {
  return std::make_unique<VirtualClock>(prices);
}

}  // namespace counterpoise
