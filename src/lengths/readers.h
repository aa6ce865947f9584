// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>
#include <string>
#include <string_view>

#include "counterpoise/lengths.h"

namespace counterpoise {

// Readable bytes that must follow `Input::bytes` (simdjson loads whole vectors).
inline constexpr size_t kInputPadding = 64;

// A file in memory. A byte-order mark is already gone from text formats.
struct Input {
  std::string name;        // for errors: the path, or "stdin"
  std::string_view bytes;  // kInputPadding readable bytes follow
  std::string field;       // ReadOptions::field
};

// What read_lengths does with a file once it is in memory: `name` is for errors and the extension.
Lengths parse_lengths(const std::string& name, std::string content, const ReadOptions& options = {});

// One reader per format: fills `corpus` or `bins` (and `documents`), checks every byte it relies on, and
// throws kBadInput. What is left to read_lengths: source, provenance, and refusing an empty result.
void read_text(const Input& input, Lengths& lengths);
void read_json(const Input& input, Lengths& lengths);
void read_jsonl(const Input& input, Lengths& lengths);
// `lengths.format` says which of the three: "csv", "weighted_csv", "binned_csv"; empty: by the header.
void read_csv(const Input& input, Lengths& lengths);
void read_npy(const Input& input, Lengths& lengths);
void read_megatron_idx(const Input& input, Lengths& lengths);

// The format of a file by its content, helped by the file name where that is ambiguous; "csv" stands for
// all three kinds of CSV. Throws kBadInput for what is recognised but not readable (gzip, Parquet, ...).
std::string detect_format(const Input& input);

// Column and key names tried when no field is given, in this order; compared without case, '_', '-', ' '.
std::span<const std::string_view> length_field_names();
// Lower case without '_', '-' and ' '.
std::string normalized_name(std::string_view name);

}  // namespace counterpoise
