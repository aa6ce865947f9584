// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "cli/length_options.h"
#include "cli/verbs.h"
#include "report/json_output.h"
#include "report/lengths_report.h"

namespace counterpoise {
namespace {

struct LengthsVerb {
  LengthOptions lengths;
  std::string json;
};

void run(const LengthsVerb& options) {
  const Lengths lengths = options.lengths.load();
  const LengthSummary summary = summarise(lengths);
  // The table would stand in the way of JSON on stdout.
  if (options.json != "-") fmt::print("{}", lengths_text(lengths, summary));
  if (!options.json.empty()) write_json(options.json, "lengths", lengths_json(lengths, summary));
}

}  // namespace

void add_lengths_verb(CLI::App& app) {
  CLI::App* verb =
      app.add_subcommand("lengths", "Read document lengths and say how unequal their attention work is");
  const auto options = std::make_shared<LengthsVerb>();
  options->lengths.add_to(*verb, true, true);
  verb->add_option("--json", options->json, "Write the summary as JSON to a file, or - for stdout")
      ->type_name("FILE|-");
  verb->callback([options] { run(*options); });
}

}  // namespace counterpoise
