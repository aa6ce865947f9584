// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "cli/output_option.h"
#include "cli/plan_options.h"
#include "cli/verbs.h"
#include "counterpoise/plan_file.h"
#include "counterpoise/verify.h"
#include "report/json_output.h"
#include "report/plan_report.h"

namespace counterpoise {
namespace {

struct PlanVerb {
  PlanOptions options;
  std::string output, json;

  void run() const {
    const StepPlan plan = make_plan(PlanSteps(options).next());
    require_valid(plan);
    if (!output.empty()) write_plan_file(output, plan);
    if (output != "-" && json != "-") fmt::print("{}{}", plan_head_text(plan), plan_loads_text(plan));
    if (json.empty()) return;
    nlohmann::ordered_json body = plan_head_json(plan);
    body["groups"] = plan_loads_json(plan);
    write_json(json, "plan", body);
  }
};

constexpr const char* kExamples = R"(
Examples:
  counterpoise plan --lengths preset:wlbllm_mix --window 8k --dp 2 --cp 2 --shard zigzag --scheme ring -o step.plan
  counterpoise plan --lengths lengths.txt --cp 8 --shard per_document_zigzag --scheme all_gather --backward
)";

}  // namespace

void add_plan_verb(CLI::App& app) {
  auto verb = std::make_shared<PlanVerb>();
  CLI::App* sub =
      app.add_subcommand("plan", "Plan one step: who holds, computes and sends what, in which order");
  verb->options.add_to(*sub);
  add_output_option(*sub, "-o,--output", verb->output, "Write the plan (- for stdout)");
  add_output_option(*sub, "--json", verb->json, "Write the loads as JSON (- for stdout)");
  sub->footer(kExamples);
  sub->callback([verb] { verb->run(); });
}

}  // namespace counterpoise
