// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/length_options.h"
#include "cli/output_option.h"
#include "cli/simulation_options.h"
#include "cli/verbs.h"
#include "counterpoise/error.h"
#include "counterpoise/numbers.h"
#include "report/json_output.h"
#include "report/law_report.h"

namespace counterpoise {
namespace {

struct LawVerb {
  LengthOptions lengths;
  SimulationOptions options;
  std::string windows;
  double target = 1.1;
  std::string json;

  void run() const {
    const SimulationConfig config = options.config();
    if (!(target > 1) || std::isinf(target))
      throw_error(ErrorKind::kUsage, "--target: {}; a slowdown is above 1, as in 1.1", target);
    const ProfilePtr profile = options.load_profile();
    const Lengths source = lengths.load();
    const LengthSummary summary = summarise(source);
    const LawSweep sweep = law_sweep(source, piece_time_of(*profile), config, target, windows_asked());
    const LawRecord record{source, summary, *profile, config, sweep, target};
    if (json != "-") fmt::print("{}", law_text(record));
    if (!json.empty()) write_json(json, "law", law_json(record));
  }

  std::optional<int64_t> windows_asked() const {
    return windows.empty() ? std::nullopt : std::optional(parse_size(windows, "--windows"));
  }
};

constexpr const char* kExamples = R"(
Examples:
  counterpoise law --lengths preset:wlbllm_mix --window 32k --target 1.1
  counterpoise law --lengths lengths.jsonl --ranks 1024 --cp 1,2,4,8,16,32 --profile area
  counterpoise law --lengths lengths.csv --window 8k --window-order stream --json law.json
)";

void add_law_options(CLI::App& sub, LawVerb& verb) {
  verb.options.add_windows_to(sub);
  sub.add_option("--target", verb.target, "Slowdown to reach: slowest group over mean group")
      ->capture_default_str()
      ->type_name("X");
  sub.add_option(
         "--windows", verb.windows,
         "Windows to take the distribution of costs from (default: 128k, fewer where documents are tiny)")
      ->type_name("N");
  add_output_option(sub, "--json", verb.json, "Write the result as JSON (- for stdout)");
}

}  // namespace

void add_law_verb(CLI::App& app) {
  auto verb = std::make_shared<LawVerb>();
  CLI::App* sub = app.add_subcommand("law", "Which CP reaches a slowdown target, in closed form");
  verb->lengths.add_to(*sub, true, true);
  add_law_options(*sub, *verb);
  sub->footer(kExamples);
  sub->callback([verb] { verb->run(); });
}

}  // namespace counterpoise
