// SPDX-License-Identifier: Apache-2.0
// One length per line; blank lines are skipped, CRLF is fine.
#include "lengths/place.h"
#include "lengths/readers.h"

namespace counterpoise {

void read_text(const Input& input, Lengths& lengths) {
  const std::string_view bytes = input.bytes;
  lengths.corpus.reserve(bytes.size() / 5);
  int64_t line = 0;
  for (size_t begin = 0; begin < bytes.size();) {
    const size_t end = std::min(bytes.find('\n', begin), bytes.size());
    ++line;
    const std::string_view cell = trimmed(bytes.substr(begin, end - begin));
    if (!cell.empty()) lengths.corpus.push_back(parse_length(cell, Place::line(input.name, line)));
    begin = end + 1;
  }
}

}  // namespace counterpoise
