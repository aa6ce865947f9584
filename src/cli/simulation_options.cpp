// SPDX-License-Identifier: Apache-2.0
#include "cli/simulation_options.h"

#include <fmt/format.h>

#include "counterpoise/numbers.h"
#include "counterpoise/profile.h"

namespace counterpoise {

CLI::Option* add_text_option(CLI::App& verb, const std::string& name, std::string& value,
                             const std::string& help) {
  return verb.add_option(name, value, help)->capture_default_str();
}

void SimulationOptions::add_windows_to(CLI::App& verb) {
  add_text_option(verb, "--ranks", ranks, "Data-parallel x context-parallel ranks; windows per step")
      ->type_name("N");
  add_text_option(verb, "--cp", cp, "Context-parallel degrees to compare, each dividing --ranks")
      ->type_name("LIST");
  add_text_option(verb, "--window", window, "Tokens of one packed sequence (max sequence length)")
      ->type_name("SIZE");
  add_text_option(verb, "--pack", pack, "Packing: concat, next_fit, best_fit_decreasing, one_document")
      ->type_name("POLICY");
  add_text_option(verb, "--long", long_documents, "Documents above the window: split, truncate, drop")
      ->type_name("POLICY");
  add_text_option(verb, "--look-ahead", look_ahead, "best_fit_decreasing: windows' worth of tokens to buffer")
      ->type_name("N");
  add_text_option(
      verb, "--order", order,
      "Documents: sample (drawn with replacement), shuffle (permutations), corpus (file order, once)")
      ->type_name("ORDER");
  add_text_option(
      verb, "--window-order", window_order,
      "shuffle (Megatron-LM's GPT dataset) or stream (a streaming loader: a group's windows share documents)")
      ->type_name("ORDER");
  add_text_option(verb, "--regime", regime,
                  "fixed: the same windows at every CP; grow: one window of CP x --window tokens per group")
      ->type_name("REGIME");
  add_text_option(
      verb, "--profile", profile,
      fmt::format("What attention costs: {}, or a profile file", fmt::join(profile_names(), ", ")))
      ->type_name("NAME|FILE");
  verb.add_option("--seed", seed, "Seed of everything random")->capture_default_str();
  verb.add_option("--threads", threads, "Threads (0: all cores); the numbers are the same for any value")
      ->capture_default_str();
}

void SimulationOptions::add_to(CLI::App& verb) {
  add_windows_to(verb);
  add_text_option(verb, "--steps", steps, "Optimizer steps to simulate")->type_name("N");
  add_text_option(
      verb, "--sync", sync,
      "Where groups wait: step (at the gradient) or micro_batch (FSDP/ZeRO-3, after every window)")
      ->type_name("WHERE");
  verb.add_option("--heads", memory.heads,
                  "Query heads, for the memory column and the plan of simulate --shard")
      ->capture_default_str();
  verb.add_option("--kv-heads", memory.kv_heads, "Key/value heads, the same")->capture_default_str();
  verb.add_option("--head-dim", memory.head_dim, "Head dimension, the same")->capture_default_str();
  verb.add_flag("--no-laws", no_laws, "Leave out the closed forms beside the simulated numbers");
}

SimulationConfig SimulationOptions::config() const {
  SimulationConfig result;
  result.ranks = parse_size(ranks, "--ranks");
  result.cp = parse_size_list(cp, "--cp");
  result.steps = parse_size(steps, "--steps");
  result.pack.policy = parse_pack_policy(pack);
  result.pack.long_documents = parse_long_documents(long_documents);
  result.pack.window = parse_size(window, "--window");
  result.pack.look_ahead = parse_size(look_ahead, "--look-ahead");
  result.order = parse_document_order(order);
  result.window_order = parse_window_order(window_order);
  result.regime = parse_regime(regime);
  result.sync = parse_sync(sync);
  result.memory = memory;
  result.seed = seed;
  result.threads = threads;
  result.laws = !no_laws;
  check_config(result);
  return result;
}

}  // namespace counterpoise
