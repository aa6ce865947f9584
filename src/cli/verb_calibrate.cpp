// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/files.h"
#include "cli/kernel_options.h"
#include "cli/mpi_world.h"
#include "cli/output_option.h"
#include "cli/progress.h"
#include "cli/verbs.h"
#include "cost/table_profile.h"
#include "counterpoise/error.h"
#include "counterpoise/kernel_profile.h"
#include "counterpoise/links.h"
#include "counterpoise/measure_links.h"
#include "counterpoise/numbers.h"
#include "report/calibration_report.h"
#include "report/json_output.h"

namespace counterpoise {
namespace {

KeepResiduals parse_keep(const std::string& text) {
  if (text == "auto") return KeepResiduals::kWhenBetter;
  if (text == "on") return KeepResiduals::kAlways;
  if (text == "off") return KeepResiduals::kNever;
  throw_error(ErrorKind::kUsage, "--neighbours takes auto, on or off, not '{}'", text);
}

constexpr double kLinksShare = 0.4;  // of the budget, where messages are timed too
constexpr int64_t kLeastMessage = 8 << 10, kMostMessage = 1 << 30;
constexpr int kMostThreads = 64;
constexpr double kNap = 0.02;  // seconds

// Holds every rank until rank 0 has come here; they sleep meanwhile, so that it has the machine for itself.
void await_first(Communicator& world) {
  constexpr int kTag = 1;
  std::byte byte{};
  if (world.rank() != 0)
    return world.wait(world.irecv(0, kTag, {&byte, 1}), {Phase::kReceiving, -1, 0}, kNap);
  for (int peer = 1; peer < world.size(); ++peer)
    world.wait(world.isend(peer, kTag, {&byte, 1}), {Phase::kSending, -1, peer});
}

struct CalibrateVerb {
  MeasuringOptions kernel;
  bool forward_only = false;
  std::string table, links_table, name, output, json;
  std::string neighbours = "auto", max_message = "64M";
  int links_ranks = 0;  // threads to time messages between
  std::vector<std::string> columns;

  void run() const {
    if (!table.empty() && !links_table.empty())
      throw_error(ErrorKind::kUsage, "--table and --links-table are two calibrations; give one");
    if (!links_table.empty()) return calibrate_links();
    if (!columns.empty() && table.empty()) throw_error(ErrorKind::kUsage, "--column describes a --table");
    if (table.empty()) return measure();
    emit(fit());
  }

  std::string name_of(const std::string& file) const {
    return name.empty() ? std::filesystem::path(file).stem().string() : name;
  }

  // Messages first, between all ranks; then the kernel, by rank 0 while the others sleep.
  void measure_as_rank(Communicator& world) const {
    if (world.rank() == 0)
      for (const std::string& path : {output, json}) require_writable(path);
    CalibrationOptions options = kernel.options(!forward_only);
    const LinkTiming timing = link_timing(options.budget_seconds * kLinksShare);
    options.budget_seconds -= timing.budget_seconds;
    ProgressLine line;
    const auto show = [&](const std::string& what, double done) {
      if (world.rank() == 0) line.show(what, done);
    };
    const Links measured = fit_timed_links(measure_links(world, timing, show));
    if (world.rank() == 0) {
      const KernelProfilePtr profile = with_links(*calibrate_cpu(options, show), measured);
      line.clear();
      emit(profile);
    }
    await_first(world);
  }

  LinkTiming link_timing(double budget) const {
    LinkTiming timing;
    timing.budget_seconds = budget;
    timing.largest = parse_size(max_message, "--max-message");
    if (timing.largest < kLeastMessage || timing.largest > kMostMessage)
      throw_error(ErrorKind::kUsage, "--max-message {}: must be from {} to {}", max_message,
                  format_size(kLeastMessage), format_size(kMostMessage));
    return timing;
  }

  KernelProfilePtr measure_kernel() const {
    ProgressLine line;
    return calibrate_cpu(kernel.options(!forward_only),
                         [&](const std::string& what, double done) { line.show(what, done); });
  }

  // Ranks of other nodes only see that rank 0 is silent, all the while it measures, warms up and fits.
  RunLimits limits() const {
    constexpr double kBesideTheBudget = 60;  // seconds
    RunLimits patient;
    patient.wait_seconds += 2 * kernel.options(!forward_only).budget_seconds + kBesideTheBudget;
    return patient;
  }

  void measure() const {
    const auto body = [&](Communicator& world) { measure_as_rank(world); };
    if (mpi_launched() && links_ranks != 0)
      throw_error(ErrorKind::kUsage,
                  "--links {} makes threads; under mpirun the ranks are those that it started", links_ranks);
    if (mpi_launched()) return run_under_mpi(limits(), body);
    if (links_ranks == 0) return emit(measure_kernel());
    if (links_ranks < 2 || links_ranks > kMostThreads)
      throw_error(ErrorKind::kUsage, "--links {}: messages are timed between 2 to {} threads", links_ranks,
                  kMostThreads);
    run_on_threads(links_ranks, body, limits());
  }

  KernelProfilePtr fit() const {
    TableColumns named;
    for (const std::string& assignment : columns) add_column(named, assignment);
    return fit_table(read_attention_table(table, named), name_of(table), parse_keep(neighbours));
  }

  void emit(const KernelProfilePtr& profile) const {
    if (!output.empty()) save_profile(*profile, output);
    if (output != "-" && json != "-") {
      fmt::print("{}", calibration_text(*profile));
      if (const std::string& text = profile->info().links; !text.empty())
        fmt::print("\n{}", links_report_text(parse_links(text, "links")));
    }
    if (!json.empty()) write_json(json, "calibrate", calibration_json(*profile));
  }

  void calibrate_links() const {
    const std::vector<LinkMeasurement> rows = read_link_table(links_table);
    const Links links = links_of_table(rows, links_table, name_of(links_table));
    if (!output.empty()) write_file(output, links_text(links));
    if (output != "-" && json != "-") fmt::print("{}", links_report_text(links));
    if (!json.empty()) write_json(json, "calibrate", links_report_json(links));
  }
};

constexpr const char* kExamples = R"(
Examples:
  counterpoise calibrate --budget 20s -o here.json
  mpirun -n 4 counterpoise calibrate -o here.json        with the links between the ranks
  counterpoise calibrate --table h100.csv --column tokens=seqlen --column forward=time_ms -o h100.json
  counterpoise calibrate --links-table nccl.csv -o links.json
  counterpoise simulate --lengths preset:wlbllm_mix --profile here.json
)";

}  // namespace

void add_calibrate_verb(CLI::App& app) {
  auto verb = std::make_shared<CalibrateVerb>();
  CLI::App* sub =
      app.add_subcommand("calibrate", "Measure this machine's kernels, or fit a table of timings: a profile");
  verb->kernel.add_to(*sub);
  sub->add_flag("--forward-only", verb->forward_only, "Do not measure the backward pass");
  sub->add_option(
         "--links", verb->links_ranks,
         "Also time messages and collectives between this many threads; under mpirun they always are, "
         "between its ranks")
      ->type_name("RANKS");
  sub->add_option("--max-message", verb->max_message, "Largest message of those")
      ->type_name("SIZE")
      ->capture_default_str();
  sub->add_option("--table", verb->table, "Fit a table of attention timings instead of measuring here")
      ->type_name("FILE");
  sub->add_option("--column", verb->columns, "What a column of --table holds, for example tokens=seqlen")
      ->type_name("ROLE=NAME");
  sub->add_option("--neighbours", verb->neighbours,
                  "Correct the model by the residuals of nearby rows: auto (when it helps), on, off")
      ->capture_default_str();
  sub->add_option("--links-table", verb->links_table, "Fit a table of messages or collectives")
      ->type_name("FILE");
  sub->add_option("--name", verb->name, "Name of the profile (default: the file's)")->type_name("NAME");
  add_output_option(*sub, "-o,--output", verb->output, "Write the profile (- for stdout)");
  add_output_option(*sub, "--json", verb->json, "Write errors and coefficients as JSON (- for stdout)");
  sub->footer(kExamples);
  sub->callback([verb] { verb->run(); });
}

}  // namespace counterpoise
