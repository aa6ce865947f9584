// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace counterpoise {

// Little endian.
template <typename T>
void append(std::string& out, T value) {
  for (size_t i = 0; i < sizeof(T); ++i) out += static_cast<char>(static_cast<uint64_t>(value) >> (8 * i));
}

// A .npy file as NumPy writes it: the header filled up with blanks to a multiple of 64 bytes.
inline std::string npy_file(const std::string& descr, const std::vector<int64_t>& values, int version = 1,
                            std::string shape = "") {
  if (shape.empty()) shape = "(" + std::to_string(values.size()) + ",)";
  std::string dict = "{'descr': '" + descr + "', 'fortran_order': False, 'shape': " + shape + ", }";
  const size_t start = version == 1 ? 10 : 12;
  dict += std::string((64 - (start + dict.size() + 1) % 64) % 64, ' ') + "\n";
  std::string file = "\x93NUMPY";
  file += static_cast<char>(version);
  file += '\0';
  version == 1 ? append(file, static_cast<uint16_t>(dict.size()))
               : append(file, static_cast<uint32_t>(dict.size()));
  file += dict;
  const size_t width = static_cast<size_t>(descr.back() - '0');
  for (const int64_t value : values) {
    std::string bytes;
    append(bytes, value);
    bytes.resize(width);
    if (descr.front() == '>') std::reverse(bytes.begin(), bytes.end());
    file += bytes;
  }
  return file;
}

// A Megatron-LM index; what is not given follows from the rest.
struct MegatronFile {
  std::vector<int32_t> sequences;
  std::vector<int64_t> documents;  // document index: first sequence of each, and the end
  int type = 4;                    // int32 tokens
  uint64_t version = 1;
  std::vector<int64_t> pointers = {};
  std::optional<uint64_t> sequence_count = {}, entry_count = {};

  std::string str() const {
    constexpr int kTokenBytes[] = {1, 1, 1, 2, 4, 8, 8, 4, 2, 1};
    std::string file("MMIDIDX\0\0", 9);
    append(file, version);
    append(file, static_cast<uint8_t>(type));
    append(file, sequence_count.value_or(sequences.size()));
    append(file, entry_count.value_or(documents.size()));
    for (const int32_t length : sequences) append(file, length);
    int64_t free = 0;
    for (size_t i = 0; i < sequences.size(); ++i) {
      append(file, pointers.empty() ? free : pointers[i]);
      free += int64_t{kTokenBytes[type]} * sequences[i];
    }
    for (const int64_t entry : documents) append(file, entry);
    return file;
  }
};

}  // namespace counterpoise
