// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "counterpoise/length_summary.h"

namespace counterpoise {

// "99,519 documents, 394M tokens; the longest 1 % hold 61 % of attention work (Σ length²)."
std::string lengths_sentence(const LengthSummary& summary);

// The sentence, what was read, tables and a picture.
std::string lengths_text(const Lengths& lengths, const LengthSummary& summary);

// Keys of `counterpoise lengths --json`, and of "lengths" inside other verbs' JSON: source, format,
// provenance, documents, tokens, ... (docs/lengths.md). Absent values are null.
nlohmann::ordered_json lengths_json(const Lengths& lengths, const LengthSummary& summary);

}  // namespace counterpoise
