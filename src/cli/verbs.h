// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <CLI/CLI.hpp>

// One verb, one file verb_<name>.cpp, one line here and one in cli.cpp. A verb adds its subcommand and
// options and sets its callback; the callback throws counterpoise::Error, or CLI::RuntimeError(code).
namespace counterpoise {

void add_law_verb(CLI::App& app);
void add_lengths_verb(CLI::App& app);
void add_calibrate_verb(CLI::App& app);
void add_run_verb(CLI::App& app);
void add_simulate_verb(CLI::App& app);
void add_study_verb(CLI::App& app);
void add_plan_verb(CLI::App& app);
void add_check_plan_verb(CLI::App& app);
void add_show_verb(CLI::App& app);
void add_validate_verb(CLI::App& app);

}  // namespace counterpoise
