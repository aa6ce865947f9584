// SPDX-License-Identifier: Apache-2.0
#include "cli/cli.h"

#include <cstdio>
#include <new>
#include <stdexcept>

#include "cli/verbs.h"
#include "counterpoise/error.h"

namespace counterpoise {
namespace {

constexpr int kUsageExit = static_cast<int>(ErrorKind::kUsage);

void add_verbs(CLI::App& app) {
  add_law_verb(app);
  add_lengths_verb(app);
  add_calibrate_verb(app);
  add_run_verb(app);
  add_validate_verb(app);
  add_simulate_verb(app);
  add_study_verb(app);
  add_plan_verb(app);
  add_check_plan_verb(app);
  add_show_verb(app);
}

// What was asked for is larger than any memory: a size among the arguments or in a file.
int too_large() {
  fmt::print(stderr, "counterpoise: this takes more memory than there is; use smaller sizes\n");
  return static_cast<int>(ErrorKind::kInfeasible);
}

}  // namespace

int run_command_line(int argc, const char* const* argv) {
  CLI::App app("Context parallelism and load balance of attention: predict, measure, execute, plan.",
               "counterpoise");
  app.require_subcommand(1);
  app.set_version_flag("--version", "counterpoise 0.1.0");
  add_verbs(app);
  try {
    app.parse(argc, argv);
    return 0;
  } catch (const CLI::RuntimeError& stop) {
    return stop.get_exit_code();
  } catch (const CLI::ParseError& wrong) {
    return app.exit(wrong) == 0 ? 0 : kUsageExit;
  } catch (const Error& error) {
    fmt::print(stderr, "counterpoise: {}\n", error.what());
    return error.exit_code();
  } catch (const std::bad_alloc&) {
    return too_large();
  } catch (const std::length_error&) {
    return too_large();
  } catch (const std::exception& bug) {
    fmt::print(stderr, "counterpoise: internal error: {}\n", bug.what());
    return 70;
  }
}

}  // namespace counterpoise
