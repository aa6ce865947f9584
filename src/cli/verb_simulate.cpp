// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/files.h"
#include "cli/length_options.h"
#include "cli/output_option.h"
#include "cli/simulation_options.h"
#include "cli/split_options.h"
#include "cli/verbs.h"
#include "counterpoise/error.h"
#include "report/json_output.h"
#include "report/simulation_report.h"

namespace counterpoise {
namespace {

struct SimulateVerb {
  LengthOptions lengths;
  SimulationOptions options;
  SplitOptions split;
  std::string json, csv;
  double fail_above = 0;

  void run() const {
    SimulationConfig config = options.config();
    const ProfilePtr profile = options.load_profile();
    config.planned = split.planned(profile, config.memory);
    const Lengths source = lengths.load();
    const SimulationResult result = simulate(source, piece_time_of(*profile), config);
    const SimulationRecord record{source, *profile, config, result};
    if (json != "-" && csv != "-") fmt::print("{}", simulation_text(record));
    if (!json.empty()) write_json(json, "simulate", simulation_json(record));
    if (!csv.empty()) write_file(csv, simulation_csv(record));
    if (fail_above > 0) check_spread(result);
  }

  void check_spread(const SimulationResult& result) const {
    const CpResult* judged = largest_judged(result.results);
    const std::optional<double> spread = judged ? judged->all.max_over_min.p50 : std::nullopt;
    if (!spread || *spread > fail_above)
      throw_error(ErrorKind::kCheckFailed, "--fail-above {}: median max/min at CP = {} is {}", fail_above,
                  judged ? judged->cp : config_largest(), number_cell(spread, 3));
  }

  int64_t config_largest() const { return options.config().cp.back(); }
};

constexpr const char* kExamples = R"(
Examples:
  counterpoise simulate --lengths preset:wlbllm_mix --ranks 64 --cp 1,2,4,8 --window 32k
  counterpoise simulate --lengths lengths.jsonl --window 8k --window-order stream --profile area
  counterpoise simulate --lengths corpus.idx --regime grow --json result.json
  counterpoise simulate --lengths preset:wlbllm_mix --cp 1,2,4,8 --shard zigzag --scheme ring --links h100-sendrecv
  counterpoise simulate --lengths lengths.csv --cp 8 --fail-above 2     exit 1 if median max/min exceeds 2
)";

}  // namespace

void add_simulate_verb(CLI::App& app) {
  auto verb = std::make_shared<SimulateVerb>();
  CLI::App* sub =
      app.add_subcommand("simulate", "How unequal attention time is across groups, at each CP degree");
  verb->lengths.add_to(*sub, true, true);
  verb->options.add_to(*sub);
  verb->split.add_to(*sub);
  add_output_option(*sub, "--json", verb->json, "Write the result as JSON (- for stdout)");
  add_output_option(*sub, "--csv", verb->csv, "Write the result as CSV (- for stdout)");
  sub->add_option("--fail-above", verb->fail_above,
                  "Exit 1 if the median max/min at the largest judged CP exceeds this")
      ->type_name("X")
      ->check(CLI::PositiveNumber);
  sub->footer(kExamples);
  sub->callback([verb] { verb->run(); });
}

}  // namespace counterpoise
