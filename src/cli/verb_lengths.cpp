// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "cli/length_options.h"
#include "cli/output_option.h"
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

constexpr const char* kExamples = R"(
Examples:
  counterpoise lengths lengths.txt                     one integer per line
  counterpoise lengths corpus_text_document.idx        Megatron-LM's index
  counterpoise lengths trace.jsonl --field prompt_len
  zcat lengths.csv.gz | counterpoise lengths - --format csv --field n_tokens
  counterpoise lengths preset:wlbllm_mix --json -
)";

}  // namespace

void add_lengths_verb(CLI::App& app) {
  CLI::App* verb =
      app.add_subcommand("lengths", "Read document lengths and say how unequal their attention work is");
  const auto options = std::make_shared<LengthsVerb>();
  options->lengths.add_to(*verb, true, true);
  add_output_option(*verb, "--json", options->json, "Write the summary as JSON to a file, or - for stdout");
  verb->footer(kExamples);
  verb->callback([options] { run(*options); });
}

}  // namespace counterpoise
