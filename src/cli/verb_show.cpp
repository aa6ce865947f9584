// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/output_option.h"
#include "cli/verbs.h"
#include "counterpoise/error.h"
#include "counterpoise/plan_file.h"
#include "counterpoise/verify.h"
#include "report/json_output.h"
#include "report/plan_report.h"

namespace counterpoise {
namespace {

struct ShowVerb {
  std::string file, json;
  int32_t group = 0, window = 0, program = -1;
  PictureOptions picture;

  void run() {
    const StepPlan plan = read_plan_file(file);
    require_valid(plan);
    if (!json.empty()) write_json(json, "show", plan_json(plan));
    if (json == "-") return;
    fmt::print("{}{}", plan_head_text(plan), plan_loads_text(plan));
    if (!plan.groups.empty()) show_window(plan);
  }

  void show_window(const StepPlan& plan) {
    check("--group", group, static_cast<int32_t>(plan.groups.size()));
    const auto& windows = plan.groups[group].windows;
    check("--window", window, static_cast<int32_t>(windows.size()));
    check("--head", picture.head, plan.shape.heads);
    picture.colour = isatty(STDOUT_FILENO) != 0 && std::getenv("NO_COLOR") == nullptr;
    fmt::print("\ngroup {} window {}, head {}: queries down, keys across, one digit per computing rank\n{}",
               group, window, picture.head, plan_picture(plan, windows[window], picture));
    if (program < 0) return;
    check("--program", program, plan.cp);
    fmt::print("\nprogram of rank {}\n{}", program, program_text(windows[window], picture.backward, program));
  }

  static void check(const char* flag, int32_t value, int32_t count) {
    if (value >= 0 && value < count) return;
    throw_error(ErrorKind::kUsage, "{} {}: the plan has 0 ... {}", flag, value, count - 1);
  }
};

}  // namespace

void add_show_verb(CLI::App& app) {
  auto verb = std::make_shared<ShowVerb>();
  CLI::App* sub = app.add_subcommand("show", "Draw the mask of a plan with each rank's tiles");
  sub->add_option("FILE", verb->file, "A plan (- for stdin)")->required()->type_name("FILE");
  sub->add_option("--group", verb->group, "Which group to draw")->capture_default_str();
  sub->add_option("--window", verb->window, "Which of its windows")->capture_default_str();
  sub->add_option("--head", verb->picture.head, "Which query head")->capture_default_str();
  sub->add_option("--cells", verb->picture.cells, "Cells in each direction")
      ->capture_default_str()
      ->check(CLI::Range(1, 1000));
  sub->add_option("--program", verb->program, "List the program of this rank too")->type_name("RANK");
  sub->add_flag("--backward", verb->picture.backward, "Draw and list the backward pass");
  add_output_option(*sub, "--json", verb->json, "Write the whole plan as JSON (- for stdout)");
  sub->callback([verb] { verb->run(); });
}

}  // namespace counterpoise
