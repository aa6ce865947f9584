// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/kernel_options.h"
#include "cli/length_options.h"
#include "cli/mpi_world.h"
#include "cli/output_option.h"
#include "cli/simulation_options.h"
#include "cli/verbs.h"
#include "counterpoise/error.h"
#include "counterpoise/metrics.h"
#include "counterpoise/numbers.h"
#include "counterpoise/simulate_plan.h"
#include "exec/measured_prices.h"
#include "exec/run_plans.h"
#include "exec/run_steps.h"
#include "report/json_output.h"
#include "report/run_report.h"

namespace counterpoise {
namespace {

Mask parse_mask(const std::string& text) {
  if (text == "causal") return Mask::causal();
  if (text == "full") return Mask::full();
  if (text.starts_with("window:")) {
    const int64_t width = parse_size(text.substr(7), "--mask window");
    if (width >= 1) return Mask::sliding_window(width);
  }
  throw_error(ErrorKind::kUsage, "--mask {}: must be causal, full or window:SIZE with SIZE >= 1", text);
}

CheckKind parse_check(const std::string& text) {
  if (text == "single") return CheckKind::kSingle;
  if (text == "oracle") return CheckKind::kOracle;
  if (text == "none") return CheckKind::kNone;
  throw_error(ErrorKind::kUsage, "--check {}: must be single, oracle or none", text);
}

int32_t parse_count(const std::string& text, const char* flag) {
  const int64_t value = parse_size(text, flag);
  if (value < 1 || value > 1 << 20)
    throw_error(ErrorKind::kUsage, "{} {}: must be between 1 and {}", flag, text, 1 << 20);
  return static_cast<int32_t>(value);
}

struct RunVerb {
  LengthOptions lengths;
  std::string window = "8k", dp = "2", cp = "2", steps = "5", windows = "0", pack = "concat",
              order = "sample";
  std::string shard = "zigzag", scheme = "ring", mask = "causal", check = "single", block = "0";
  std::string heads = "4", kv_heads = "0", head_dim = "64", gradient = "16M", json;
  IsaOption isa;
  int inner = 0, threads = 1;
  double timeout = 8;
  uint64_t seed = 1;
  bool backward = false, messages = false;

  PlanRequest request() const {
    PlanRequest request;
    request.cp = parse_count(cp, "--cp");
    request.shape.heads = parse_count(heads, "--heads");
    request.shape.kv_heads = kv_heads == "0" ? request.shape.heads : parse_count(kv_heads, "--kv-heads");
    if (request.shape.heads % request.shape.kv_heads != 0) {
      throw_error(ErrorKind::kUsage, "--kv-heads {}: must divide --heads {}", kv_heads, heads);
    }
    request.shape.head_dim = request.shape.v_head_dim = parse_count(head_dim, "--head-dim");
    request.shape.mask = parse_mask(mask);
    request.sharder = shard;
    request.scheme = scheme;
    request.shard_options.block = parse_size(block, "--block");
    request.scheme_options.inner = inner;
    request.backward = backward;
    return request;
  }

  RunWindows run_windows() const {
    RunWindows result;
    result.steps = parse_count(steps, "--steps");
    result.dp = parse_count(dp, "--dp");
    result.windows_per_group = windows == "0" ? parse_count(cp, "--cp") : parse_count(windows, "--windows");
    result.pack.window = parse_count(window, "--window");
    result.pack.policy = parse_pack_policy(pack);
    result.order = parse_document_order(order);
    result.seed = seed;
    return result;
  }

  RunSettings settings() const {
    RunSettings result;
    result.kernel.isa = isa.resolve();
    result.kernel.threads = threads;
    result.kernel.in_place = !messages;
    result.check = parse_check(check);
    result.gradient_bytes = parse_size(gradient, "--gradient");
    return result;
  }

  void run() const {
    if (timeout <= 0) throw_error(ErrorKind::kUsage, "--timeout {}: must be above 0 seconds", timeout);
    const RunLimits limits{std::min(5.0, timeout), timeout};
    if (!mpi_launched()) {
      const std::vector<StepPlan> plans = make_plans();
      run_on_threads(
          plans[0].dp() * plans[0].cp, [&](Communicator& world) { run_rank(world, plans); }, limits);
      return;
    }
    run_under_mpi(limits, [&](Communicator& world) {
      const std::vector<StepPlan> plans = make_plans();
      check_world(world, plans[0]);
      run_rank(world, plans);
    });
  }

  std::vector<StepPlan> make_plans() const { return plan_run(lengths.load(), run_windows(), request()); }

  void check_world(const Communicator& world, const StepPlan& plan) const {
    const int32_t wanted = plan.dp() * plan.cp;
    if (world.size() == wanted) return;
    throw_error(ErrorKind::kInfeasible,
                "--dp {} x --cp {} needs {} ranks but {} were started: use mpirun -n {}, or --dp {}",
                plan.dp(), plan.cp, wanted, world.size(), wanted, std::max(1, world.size() / plan.cp));
  }

  void run_rank(Communicator& world, const std::vector<StepPlan>& plans) const {
    const RunSettings how = settings();
    const std::optional<double> simulated = simulated_slowdown(world, plans, how.kernel);
    const RunRecord record = run_steps(plans, world, how);
    if (world.rank() == 0) print({record, plans[0], how.check, parse_size(window, "--window"), simulated});
    world.barrier();
    if (!record.check.ok()) throw CLI::RuntimeError(static_cast<int>(ErrorKind::kCheckFailed));
  }

  // What the simulator says of the same plans, priced before anything runs. Rank 0 measures and simulates;
  // the others wait for it.
  std::optional<double> simulated_slowdown(Communicator& world, const std::vector<StepPlan>& plans,
                                           const KernelOptions& kernel) const {
    if (plans[0].dp() < 2) return std::nullopt;
    std::optional<double> result;
    if (world.rank() == 0) {
      int64_t longest = 16;
      for (const StepPlan& plan : plans) {
        for (const GroupPlan& group : plan.groups) {
          for (const WindowPlan& w : group.windows) {
            for (const PlanDocument& d : w.documents) longest = std::max(longest, d.length);
          }
        }
      }
      const MeasuredPrices prices(measure_pair_prices(plans[0].shape, longest, 1.0, kernel));
      std::vector<std::vector<double>> groups;
      for (const StepPlan& plan : plans) groups.push_back(group_times(simulate_plan(plan, prices), plan.cp));
      result = slowdown(groups);
    }
    world.barrier();
    return result;
  }

  void print(const RunReport& report) const {
    if (json != "-") fmt::print("{}", run_text(report));
    if (!json.empty()) write_json(json, "run", run_json(report));
    std::fflush(stdout);
  }
};

constexpr const char* kExamples = R"(
Examples:
  counterpoise run --lengths preset:wlbllm_mix --window 8k --dp 2 --cp 2 --backward
  counterpoise run --lengths lengths.jsonl --window 2k --cp 3 --scheme all_gather --check oracle
  mpirun -n 4 counterpoise run --lengths lengths.jsonl --window 8k --dp 2 --cp 2 --backward --json -
As root, Open MPI wants OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1; with more ranks than cores
also OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_mpi_yield_when_idle=1.
)";

}  // namespace

void add_run_verb(CLI::App& app) {
  auto verb = std::make_shared<RunVerb>();
  CLI::App& sub =
      *app.add_subcommand("run", "Execute a plan with real ranks and real attention, and check the results");
  verb->lengths.add_to(sub, true, true);
  add_text_option(sub, "--window", verb->window, "Tokens of one packed sequence")->type_name("SIZE");
  add_text_option(sub, "--dp", verb->dp, "Groups")->type_name("N");
  add_text_option(sub, "--cp", verb->cp, "Ranks of a group")->type_name("N");
  add_text_option(sub, "--shard", verb->shard, "Sharder: which rank holds which tokens")->type_name("POLICY");
  add_text_option(sub, "--scheme", verb->scheme, "Communication scheme")->type_name("SCHEME");
  add_text_option(sub, "--steps", verb->steps, "Optimizer steps")->type_name("N");
  add_text_option(sub, "--windows", verb->windows, "Windows a group processes per step (0: as many as --cp)")
      ->type_name("N");
  add_text_option(sub, "--pack", verb->pack, "Packing: concat, next_fit, best_fit_decreasing, one_document")
      ->type_name("POLICY");
  add_text_option(sub, "--order", verb->order, "Documents: sample, shuffle, corpus")->type_name("ORDER");
  add_text_option(sub, "--mask", verb->mask, "causal, full or window:SIZE")->type_name("MASK");
  add_text_option(sub, "--heads", verb->heads, "Query heads")->type_name("N");
  add_text_option(sub, "--kv-heads", verb->kv_heads, "Key/value heads (0: as many as --heads)")
      ->type_name("N");
  add_text_option(sub, "--head-dim", verb->head_dim, "Head dimension")->type_name("N");
  add_text_option(sub, "--block", verb->block, "striped: tokens per stripe (0: the sharder's own)")
      ->type_name("SIZE");
  sub.add_option("--inner", verb->inner,
                 "ring2d, double_ring: ranks of the inner level (0: the scheme's own)");
  add_text_option(sub, "--gradient", verb->gradient,
                  "Bytes of float32 gradient that all ranks sum to end a step")
      ->type_name("SIZE");
  sub.add_flag("--backward", verb->backward, "Also the backward pass");
  add_text_option(sub, "--check", verb->check, "Compare results with: single (one rank), oracle (fp64), none")
      ->type_name("WHAT");
  sub.add_flag("--messages", verb->messages, "Send keys and values instead of reading them in place");
  verb->isa.add_to(sub);
  sub.add_option("--threads", verb->threads, "Threads of a rank's kernels")->capture_default_str();
  sub.add_option("--timeout", verb->timeout, "Seconds to wait for a rank that does not get on")
      ->capture_default_str();
  sub.add_option("--seed", verb->seed, "Seed of everything random")->capture_default_str();
  add_output_option(sub, "--json", verb->json, "Write the result as JSON (- for stdout)");
  sub.footer(kExamples);
  sub.callback([verb] { verb->run(); });
}

}  // namespace counterpoise
