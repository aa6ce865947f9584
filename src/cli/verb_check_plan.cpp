// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "cli/output_option.h"
#include "cli/verbs.h"
#include "counterpoise/numbers.h"
#include "counterpoise/plan_file.h"
#include "counterpoise/verify.h"
#include "report/json_output.h"
#include "report/plan_report.h"

namespace counterpoise {
namespace {

struct CheckPlanVerb {
  std::string file, json, memory_limit = "0";

  void run() const {
    const StepPlan plan = read_plan_file(file);
    const VerifyReport report = verify(plan, {parse_size(memory_limit, "--memory-limit")});
    if (json != "-") fmt::print("{}", verify_text(report));
    if (!json.empty()) write_json(json, "check-plan", verify_json(report));
    if (!report.ok()) throw CLI::RuntimeError(1);
  }
};

}  // namespace

void add_check_plan_verb(CLI::App& app) {
  auto verb = std::make_shared<CheckPlanVerb>();
  CLI::App* sub = app.add_subcommand(
      "check-plan", "Check a plan: every pair once, messages match, nobody waits for ever, memory");
  sub->add_option("FILE", verb->file, "A plan (- for stdin)")->required()->type_name("FILE");
  sub->add_option("--memory-limit", verb->memory_limit,
                  "Bytes of buffers one rank may hold at once (0: no limit)")
      ->type_name("SIZE");
  add_output_option(*sub, "--json", verb->json, "Write the findings as JSON (- for stdout)");
  sub->callback([verb] { verb->run(); });
}

}  // namespace counterpoise
