// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cctype>

#include "lengths/readers.h"

namespace counterpoise {

std::span<const std::string_view> length_field_names() {
  // Normalized. Data sets first, then serving traces (where the prompt is the document).
  static constexpr std::array<std::string_view, 17> kNames = {
      "length",      "lengths",  "numtokens",      "ntokens",      "tokencount",     "tokens",
      "seqlen",      "seqlens",  "sequencelength", "doclength",    "documentlength", "doclen",
      "inputlength", "inputlen", "contexttokens",  "prompttokens", "promptlen"};
  return kNames;
}

std::string normalized_name(std::string_view name) {
  std::string text;
  for (const char c : name)
    if (c != '_' && c != '-' && c != ' ')
      text += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

}  // namespace counterpoise
