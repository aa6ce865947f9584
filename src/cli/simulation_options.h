// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "cli/verbs.h"
#include "counterpoise/profile.h"
#include "counterpoise/simulate.h"

namespace counterpoise {

// Cluster, windows and order of a simulated run, as the command line spells them; shared by the verbs that
// simulate. Numbers stay text until `config`, which names the flag of whatever is wrong.
struct SimulationOptions {
  std::string ranks = "64";
  std::string cp = "1,2,4,8,16";
  std::string window = "32k";
  std::string steps = "1000";
  std::string pack = "concat";
  std::string long_documents = "split";
  std::string look_ahead = "64";
  std::string order = "sample";
  std::string window_order = "shuffle";
  std::string regime = "fixed";
  std::string sync = "step";
  std::string profile = "h100-fa3";
  MemoryShape memory;
  uint64_t seed = 1;
  int threads = 0;
  bool no_laws = false;

  void add_to(CLI::App& verb);
  void add_windows_to(CLI::App& verb);  // the part of them that says what a window costs: no steps, no sync
  SimulationConfig config() const;
  ProfilePtr load_profile() const { return counterpoise::load_profile(profile); }
};

// "--name TEXT  help (default: ...)": an option whose default is shown.
CLI::Option* add_text_option(CLI::App& verb, const std::string& name, std::string& value,
                             const std::string& help);

}  // namespace counterpoise
