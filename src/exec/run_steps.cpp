// SPDX-License-Identifier: Apache-2.0
#include "exec/run_steps.h"

#include <sys/resource.h>

#include <algorithm>
#include <cstring>

#include "counterpoise/parallel.h"
#include "kernels/backend.h"

namespace counterpoise {
namespace {

// Shared memory for the home keys of every window of the largest step.
int64_t shared_bytes(const std::vector<StepPlan>& plans, int32_t rank) {
  int64_t most = 0;
  for (const StepPlan& plan : plans) {
    int64_t bytes = 64;
    for (const WindowPlan& window : plan.groups[static_cast<size_t>(rank / plan.cp)].windows) {
      const int64_t rows = window.rows(window.placement[static_cast<size_t>(rank % plan.cp)]);
      bytes += 64 + rows * plan.shape.kv_heads * payload_bytes(plan.shape, Payload::kKv);
    }
    most = std::max(most, bytes);
  }
  return most;
}

int64_t process_peak() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss * 1024;
}

template <typename T>
std::vector<T> gather(const T& mine, Communicator& world) {
  static_assert(std::is_trivially_copyable_v<T>);
  std::vector<T> all;
  for (const auto& bytes : world.all_gather(std::as_bytes(std::span(&mine, 1)))) {
    all.emplace_back();
    std::memcpy(&all.back(), bytes.data(), sizeof(T));
  }
  return all;
}

// The worst over all ranks' groups.
CheckResult gather_check(const CheckResult& mine, Communicator& world, int32_t cp) {
  struct Flat {
    double error[5] = {}, allowed[5] = {};
    int64_t tensors = 0, windows = 0, documents = 0;
  } flat;
  flat.tensors = static_cast<int64_t>(mine.tensors.size());
  flat.windows = mine.windows;
  flat.documents = mine.documents;
  for (size_t i = 0; i < mine.tensors.size(); ++i) {
    flat.error[i] = mine.tensors[i].error;
    flat.allowed[i] = mine.tensors[i].allowed;
  }
  CheckResult all;
  const std::vector<Flat> ranks = gather(flat, world);
  for (size_t rank = 0; rank < ranks.size(); rank += static_cast<size_t>(cp)) {
    CheckResult group{mine.tensors, ranks[rank].windows, ranks[rank].documents};
    for (size_t i = 0; i < group.tensors.size(); ++i) {
      group.tensors[i].error = ranks[rank].error[i];
      group.tensors[i].allowed = ranks[rank].allowed[i];
    }
    all.add(group);
  }
  return all;
}

class Runner {
 public:
  Runner(Communicator& world, const RunSettings& settings)
      : world_(world), settings_(settings), clock_(make_real_clock()) {
    gradient_.assign(static_cast<size_t>(settings.gradient_bytes / 4), 1.0f);
  }

  StepRecord step(const StepPlan& plan, CheckResult& check) {
    const int32_t group_index = world_.rank() / plan.cp;
    const auto group = make_group(world_, group_index * plan.cp, plan.cp);
    MemoryCounter memory;
    AttentionKernel kernel(plan, group_index, *group, memory, settings_.kernel);

    world_.barrier();
    clock_->start_step();
    Timeline mine = execute_windows(plan, world_, kernel, *clock_);
    const int64_t peak = memory.peak();
    reduce_gradient(world_, *clock_, gradient_, 0, mine);

    const auto windows = static_cast<int32_t>(plan.groups[static_cast<size_t>(group_index)].windows.size());
    const RankUse use{kernel.cpu_seconds(), kernel.bytes_sent(),        kernel.bytes_in_place(), peak,
                      process_peak(),       kernel.attend_cpu_seconds()};
    StepRecord record{gather_timeline(mine, world_), gather(use, world_)};
    for (int32_t w = 0; w < windows; ++w) {
      check.add(
          check_window(plan, group_index, w, kernel.tensors(w), *group, settings_.check, settings_.kernel));
    }
    world_.barrier();  // nobody frees keys that others still read
    return record;
  }

 private:
  Communicator& world_;
  const RunSettings& settings_;
  std::unique_ptr<Clock> clock_;
  std::vector<float> gradient_;
};

}  // namespace

RunRecord run_steps(const std::vector<StepPlan>& plans, Communicator& world, const RunSettings& settings) {
  for (const StepPlan& plan : plans) compare_plans(plan, world);
  if (settings.kernel.in_place) world.reserve_shared(shared_bytes(plans, world.rank()));
  RunRecord record;
  record.communicator = world.name();
  record.ranks = world.size();
  record.cores = thread_count(0);
  record.kernel.threads = thread_count(settings.kernel.threads);
  record.kernel.isa = isa_of_storage(resolve_isa(settings.kernel.isa), DType::kFloat32);

  Runner runner(world, settings);
  CheckResult mine;
  for (const StepPlan& plan : plans) record.steps.push_back(runner.step(plan, mine));
  record.check = gather_check(mine, world, plans.front().cp);
  return record;
}

}  // namespace counterpoise
