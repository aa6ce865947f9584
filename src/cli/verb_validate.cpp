// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/kernel_options.h"
#include "cli/output_option.h"
#include "cli/progress.h"
#include "cli/verbs.h"
#include "counterpoise/error.h"
#include "counterpoise/numbers.h"
#include "counterpoise/validate_cpu.h"
#include "counterpoise/validate_laws.h"
#include "report/json_output.h"
#include "report/validation_report.h"

namespace counterpoise {
namespace {

struct ValidateVerb {
  std::string data = "../shared/data";
  std::string profile, table, json;
  std::string budget = "60s", window = "4096", law_window = "8k", steps = "100000";
  std::vector<std::string> columns;
  std::string only = "all";
  CpuValidation cpu;
  IsaOption isa;

  void run() const {
    const std::vector<ValidationPart> parts = collect();
    if (json != "-") fmt::print("{}", validation_text(parts));
    if (!json.empty()) write_json(json, "validate", validation_json(parts));
    const std::vector<std::string> failed = failed_parts(parts);
    if (!failed.empty())
      throw_error(ErrorKind::kCheckFailed, "above the threshold: {}", fmt::join(failed, "; "));
    const std::vector<std::string> open = inconclusive_parts(parts);
    if (!open.empty())
      throw_error(ErrorKind::kInconclusive, "above the threshold, but this machine is too noisy to judge: {}",
                  fmt::join(open, "; "));
  }

  std::vector<ValidationPart> collect() const {
    if (profile.empty() != table.empty())
      throw_error(ErrorKind::kUsage,
                  "--profile and --table belong together: the profile prices the table's rows");
    if (!table.empty()) return validate_table(profile, table, columns);
    if (!columns.empty()) throw_error(ErrorKind::kUsage, "--column describes a --table");
    const std::pair<std::string, std::function<std::vector<ValidationPart>()>> sources[] = {
        {"tables", [&] { return validate_tables(data); }},
        {"cpu", [&] { return measure(); }},
        {"laws", [&] { return draw(); }}};
    std::vector<ValidationPart> parts;
    bool known = only == "all";
    for (const auto& [name, make] : sources) {
      if (only != "all" && only != name) continue;
      known = true;
      for (ValidationPart& part : make()) parts.push_back(std::move(part));
    }
    if (only == "tables" &&
        std::ranges::none_of(parts, [](const auto& part) { return part.unavailable.empty(); }))
      throw_error(ErrorKind::kBadInput,
                  "{}/calibration holds none of the published tables; --data names the folder", data);
    if (!known) throw_error(ErrorKind::kUsage, "--only takes all, tables, cpu or laws, not '{}'", only);
    return parts;
  }

  std::vector<ValidationPart> draw() const {
    LawValidation options;
    options.lengths = cpu.lengths;
    options.seed = cpu.seed;
    options.pack.window = parse_size(law_window, "--law-window");
    options.steps = parse_size(steps, "--steps");
    ProgressLine line;
    return validate_laws(options, [&](const std::string& what, double done) { line.show(what, done); });
  }

  std::vector<ValidationPart> measure() const {
    CpuValidation options = cpu;
    options.budget_seconds = parse_duration(budget, "--budget");
    options.window = parse_size(window, "--window");
    options.isa = isa.resolve();
    ProgressLine line;
    return validate_cpu(options, [&](const std::string& what, double done) { line.show(what, done); });
  }
};

constexpr const char* kExamples = R"(
Examples:
  counterpoise validate                                  every part; exit 1 above a threshold, 6 where noise hides it
  counterpoise validate --only tables --data DIR
  counterpoise validate --only cpu --lengths corpus.txt --budget 60s
  counterpoise validate --only laws --lengths corpus.txt --law-window 32k
  counterpoise validate --profile a100 --table mine.csv --column tokens=seqlen --column forward=time_ms
)";

}  // namespace

void add_validate_verb(CLI::App& app) {
  auto verb = std::make_shared<ValidateVerb>();
  CLI::App* sub =
      app.add_subcommand("validate", "Predicted against measured: this CPU, published tables, the laws");
  sub->add_option("--data", verb->data, "Folder whose calibration/ holds the published tables")
      ->type_name("DIR")
      ->capture_default_str();
  sub->add_option("--only", verb->only,
                  "all, tables, cpu (measured here) or laws (closed forms against drawing)")
      ->capture_default_str();
  sub->add_option("--lengths", verb->cpu.lengths, "Document lengths of the windows measured and drawn here")
      ->type_name("SOURCE")
      ->capture_default_str();
  sub->add_option("--window", verb->window, "Tokens of the windows measured")->capture_default_str();
  sub->add_option("--law-window", verb->law_window, "Tokens of the windows drawn for the laws")
      ->type_name("SIZE")
      ->capture_default_str();
  sub->add_option("--steps", verb->steps, "Steps drawn for the laws")->type_name("N")->capture_default_str();
  sub->add_option("--budget", verb->budget, "Time for measuring here")
      ->type_name("TIME")
      ->capture_default_str();
  verb->isa.add_to(*sub);
  sub->add_option("--seed", verb->cpu.seed, "Seed of windows and orders")->capture_default_str();
  sub->add_option("--profile", verb->profile, "Price the rows of --table with this profile")
      ->type_name("NAME|FILE");
  sub->add_option("--table", verb->table, "A table of attention timings, or of messages and collectives")
      ->type_name("FILE");
  sub->add_option("--column", verb->columns, "What a column of --table holds, for example tokens=seqlen")
      ->type_name("ROLE=NAME");
  add_output_option(*sub, "--json", verb->json, "Write the result as JSON (- for stdout)");
  sub->footer(kExamples);
  sub->callback([verb] { verb->run(); });
}

}  // namespace counterpoise
