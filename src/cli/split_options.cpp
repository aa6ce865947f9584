// SPDX-License-Identifier: Apache-2.0
#include "cli/split_options.h"

#include "cli/plan_options.h"
#include "cli/simulation_options.h"
#include "counterpoise/error.h"
#include "counterpoise/links.h"
#include "counterpoise/numbers.h"
#include "counterpoise/profile_prices.h"
#include "counterpoise/scheme.h"

namespace counterpoise {
namespace {

int32_t small_number(int64_t value, const char* flag) {
  if (value < 1 || value > 1 << 20)
    throw_error(ErrorKind::kUsage, "{} {}: must be between 1 and {}", flag, value, 1 << 20);
  return static_cast<int32_t>(value);
}

}  // namespace

void SplitOptions::add_to(CLI::App& verb) {
  add_text_option(verb, "--shard", shard,
                  "Split of a window over its group: ideal (evenly, communication free), or the plan's: " +
                      names_of(sharders()))
      ->type_name("POLICY");
  verb.add_option("--scheme", scheme,
                  "With --shard: how keys and queries travel (default: ring): " + names_of(schemes()))
      ->type_name("SCHEME");
  verb.add_option("--links", links,
                  "With --shard: what messages cost: none (nothing), " +
                      fmt::format("{}", fmt::join(links_names(), ", ")) +
                      ", or a links file (default: h100-sendrecv; none for --profile area)")
      ->type_name("NAME|FILE");
  verb.add_option(
          "--ranks-per-node", ranks_per_node,
          "With --shard: ranks of a node, between which the links' network level counts (0: one node)")
      ->type_name("N")
      ->check(CLI::NonNegativeNumber);
  verb.add_option("--block", block, "striped: tokens per stripe (0: 128)")->type_name("SIZE");
  verb.add_option("--token-cap", token_cap,
                  "whole_document, adaptive: most tokens on a rank (0: twice an even share)")
      ->type_name("SIZE");
  verb.add_option("--inner", inner, "ring2d, double_ring: ranks of the inner level (0: chosen)")
      ->type_name("N");
}

void SplitOptions::require_none() const {
  const auto refuse = [](bool given, const char* flag) {
    if (given)
      throw_error(ErrorKind::kUsage,
                  "{} says how a plan splits windows, but the split is ideal: add --shard with one of {}",
                  flag, names_of(sharders()));
  };
  refuse(!scheme.empty(), "--scheme");
  refuse(!links.empty(), "--links");
  refuse(ranks_per_node != 0, "--ranks-per-node");
  refuse(block != "0", "--block");
  refuse(token_cap != "0", "--token-cap");
  refuse(inner != 0, "--inner");
}

std::optional<PlannedSplit> SplitOptions::planned(const ProfilePtr& profile,
                                                  const MemoryShape& memory) const {
  if (shard == "ideal") {
    require_none();
    return std::nullopt;
  }
  PlannedSplit result;
  GroupSplit& split = result.split;
  split.sharder = shard;
  split.scheme = scheme.empty() ? "ring" : scheme;
  split.shard_options = {parse_size(block, "--block"), parse_size(token_cap, "--token-cap")};
  split.scheme_options = {inner};
  const int32_t head_dim = small_number(memory.head_dim, "--head-dim");
  split.shape = {small_number(memory.heads, "--heads"),
                 small_number(memory.kv_heads, "--kv-heads"),
                 head_dim,
                 head_dim,
                 static_cast<int32_t>(memory.element_bytes),
                 Mask::causal()};
  const bool seconds = profile->info().unit == "seconds";
  result.links = !links.empty() ? links : seconds ? "h100-sendrecv" : "none";
  result.ranks_per_node = ranks_per_node;
  const std::optional<Links> priced =
      result.links == "none" ? std::nullopt : std::optional(load_links(result.links));
  result.prices = std::make_shared<ProfilePrices>(profile, priced, ranks_per_node);
  return result;
}

}  // namespace counterpoise
