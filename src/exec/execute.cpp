// SPDX-License-Identifier: Apache-2.0
#include "counterpoise/execute.h"

#include <algorithm>
#include <cstring>

#include "counterpoise/error.h"
#include "exec/rank_program.h"

namespace counterpoise {

Timeline execute_windows(const StepPlan& plan, Communicator& world, Kernel& kernel, Clock& clock) {
  CP_CHECK(world.size() == plan.dp() * plan.cp);
  Timeline timeline{world.size(), {}};
  const int32_t group = world.rank() / plan.cp;
  const auto ranks = make_group(world, group * plan.cp, plan.cp);
  const std::vector<WindowPlan>& windows = plan.groups[static_cast<size_t>(group)].windows;
  for (size_t w = 0; w < windows.size(); ++w) {
    for (const bool backward : {false, true}) {
      const Pass& pass = backward ? windows[w].backward : windows[w].forward;
      if (pass.programs.empty()) continue;
      const PassContext context{&plan,        &windows[w], &pass, backward, group, static_cast<int32_t>(w),
                                ranks->rank()};
      kernel.begin_pass(context);
      RankProgram(context, *ranks, kernel, clock, timeline.spans).run();
      kernel.end_pass();
    }
  }
  timeline.sort();
  return timeline;
}

void reduce_gradient(Communicator& world, Clock& clock, std::span<float> gradient, double price,
                     Timeline& timeline) {
  const double begin = clock.now();
  if (clock.is_virtual()) {
    double last = begin;
    for (const auto& time : world.all_gather(std::as_bytes(std::span(&begin, 1)))) {
      double other = 0;
      std::memcpy(&other, time.data(), sizeof other);
      last = std::max(last, other);
    }
    clock.advance_to(last + price);
  } else {
    world.all_reduce_sum(gradient);
  }
  timeline.spans.push_back({SpanKind::kReduce, false, world.rank(), -1, -1, -1, begin, clock.now()});
  timeline.sort();
}

Timeline gather_timeline(const Timeline& mine, Communicator& world) {
  static_assert(std::is_trivially_copyable_v<Span>);
  Timeline all{mine.ranks, {}};
  for (const auto& bytes : world.all_gather(std::as_bytes(std::span(mine.spans)))) {
    std::vector<Span> spans(bytes.size() / sizeof(Span));
    if (!spans.empty()) std::memcpy(spans.data(), bytes.data(), bytes.size());
    all.spans.insert(all.spans.end(), spans.begin(), spans.end());
  }
  all.sort();
  return all;
}

}  // namespace counterpoise
