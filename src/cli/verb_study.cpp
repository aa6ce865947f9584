// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/kernel_options.h"
#include "cli/length_options.h"
#include "cli/output_option.h"
#include "cli/progress.h"
#include "cli/simulation_options.h"
#include "cli/verbs.h"
#include "counterpoise/numbers.h"
#include "report/json_output.h"
#include "report/study_report.h"

namespace counterpoise {
namespace {

struct StudyVerb {
  LengthOptions lengths;
  SimulationOptions options;
  StudyConfig config;
  IsaOption isa;
  std::string budget = "60s", wide = "32k", profile, json;

  void run() {
    config.simulation = options.config();
    config.isa = isa.resolve();
    if (!profile.empty()) config.profile = load_kernel_profile(profile);
    config.budget_seconds = parse_duration(budget, "--budget");
    config.wide_window = parse_size(wide, "--wide-window");
    const Lengths source = lengths.load();
    ProgressLine line;
    const Study study =
        run_study(source, config, [&](const std::string& what, double done) { line.show(what, done); });
    line.clear();
    const StudyRecord record{source, config, study};
    if (json != "-") fmt::print("{}", study_text(record));
    if (!json.empty()) write_json(json, "study", study_json(record));
  }
};

constexpr const char* kExamples = R"(
The kernel's profile is measured first, on shapes of its own, and frozen; then the sweep is simulated, and the
real kernel runs for as many steps as the budget allows. Nothing is rescaled afterwards. Where others slow this
core (virtual machines), runs wait for it to be as fast as usual, with --repeats they are also made again, and fewer
steps fit: give more --budget.

Examples:
  counterpoise study                                         the default: preset:wlbllm_mix, window 4096, 64 ranks
  counterpoise study lengths.jsonl --window 8k --budget 2m
  counterpoise study corpus.idx --window-order stream        what a streaming loader does
  counterpoise study preset:wikipedia --regime grow --json study.json
  counterpoise calibrate --budget 60s -o here.json && counterpoise study corpus.idx --profile here.json
)";

}  // namespace

void add_study_verb(CLI::App& app) {
  auto verb = std::make_shared<StudyVerb>();
  verb->lengths.source = "preset:wlbllm_mix";
  verb->options.window = "4k";
  verb->options.cp = "1,2,4,8";
  CLI::App* sub = app.add_subcommand(
      "study", "The verdict: simulate, run real attention on this machine, compare, conclude");
  verb->lengths.add_to(*sub, true, false);
  verb->options.add_to(*sub);
  sub->remove_option(sub->get_option("--profile"));
  sub->add_option("--profile", verb->profile,
                  "What calibrate measured on this machine (default: measured first)")
      ->type_name("FILE");
  add_text_option(*sub, "--budget", verb->budget,
                  "Time for measuring, the profile included unless it is given")
      ->type_name("TIME");
  add_text_option(*sub, "--wide-window", verb->wide, "A second, wider window to simulate beside it (0: none)")
      ->type_name("SIZE");
  sub->add_option("--kernel-heads", verb->config.heads.heads, "Query heads of the measured kernel")
      ->capture_default_str();
  sub->add_option("--kernel-kv-heads", verb->config.heads.kv_heads, "Key/value heads of the measured kernel")
      ->capture_default_str();
  sub->add_option("--kernel-head-dim", verb->config.heads.head_dim, "Head dimension of the measured kernel")
      ->capture_default_str();
  verb->isa.add_to(*sub);
  sub->add_option("--repeats", verb->config.repeats,
                  "Runs of each measured group with the core as fast as usual; their median counts")
      ->type_name("N")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  sub->add_flag("--backward", verb->config.backward,
                "Measure and price forward and backward, not forward alone");
  add_output_option(*sub, "--json", verb->json, "Write the result as JSON (- for stdout)");
  sub->footer(kExamples);
  sub->callback([verb] { verb->run(); });
}

}  // namespace counterpoise
