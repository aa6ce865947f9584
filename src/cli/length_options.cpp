// SPDX-License-Identifier: Apache-2.0
#include "cli/length_options.h"

namespace counterpoise {

void LengthOptions::add_to(CLI::App& verb, bool positional, bool required) {
  verb.add_option(
          positional ? "SOURCE,--lengths" : "--lengths", source,
          "Document lengths: a file (one integer per line, JSON, JSONL, CSV/TSV, .npy, Megatron .idx), - for "
          "stdin, preset:NAME, or dist:lognormal(median=3k,sigma=1.2,max=128k)")
      ->required(required)
      ->type_name("SOURCE");
  verb.add_option("--field", read.field,
                  "JSONL key or CSV column that holds the length (default: the well-known names)");
  verb.add_option("--format", read.format,
                  "Format of the file: text, json, jsonl, csv, weighted_csv, binned_csv, npy, megatron_idx "
                  "(default: detected)");
}

}  // namespace counterpoise
