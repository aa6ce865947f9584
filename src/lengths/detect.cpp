// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cctype>

#include "lengths/place.h"
#include "lengths/readers.h"

namespace counterpoise {
namespace {

using namespace std::string_view_literals;

struct Magic {
  std::string_view bytes;
  std::string_view what;
  std::string_view remedy;
};

// Recognised, so that the error can say what to do.
constexpr std::array kUnreadable = {
    Magic{"\x1f\x8b"sv, "gzip-compressed", "unpack it: zcat FILE | counterpoise lengths -"},
    Magic{"\x28\xb5\x2f\xfd"sv, "zstd-compressed", "unpack it: zstdcat FILE | counterpoise lengths -"},
    Magic{"BZh"sv, "bzip2-compressed", "unpack it: bzcat FILE | counterpoise lengths -"},
    Magic{"\xfd\x37zXZ"sv, "xz-compressed", "unpack it: xzcat FILE | counterpoise lengths -"},
    Magic{"PK\x03\x04"sv, "a zip archive (.npz?)", "save one array as .npy"},
    Magic{"PAR1"sv, "a Parquet file", "write its length column as text, one integer per line"},
    Magic{"ARROW1"sv, "an Arrow file", "write its length column as text, one integer per line"},
    Magic{"TNTIDX\0\0"sv, "a legacy index (TNTIDX)", "convert it to the MMIDIDX index of Megatron-LM"},
    Magic{"\xff\xfe"sv, "UTF-16 text", "save it as UTF-8"},
    Magic{"\xfe\xff"sv, "UTF-16 text", "save it as UTF-8"},
};

bool has_extension(std::string_view name, std::string_view extension) {
  return name.size() > extension.size() && normalized_name(name).ends_with(extension);
}

std::string_view first_line(std::string_view bytes) {
  const size_t begin = bytes.find_first_not_of(" \t\r\n\f\v");
  if (begin == std::string_view::npos) return {};
  return trimmed(bytes.substr(begin, bytes.find('\n', begin) - begin));
}

// Digits with what a wrongly written number may have; such a line is a text file's, right or wrong.
bool looks_like_number(std::string_view line) {
  return line.find_first_of("0123456789") != std::string_view::npos &&
         line.find_first_not_of("0123456789+-._eE") == std::string_view::npos;
}

void refuse_missing_magic(const Input& input, std::string_view extension, std::string_view magic) {
  if (has_extension(input.name, extension))
    bad_input(Place::byte(input.name, 0), "no {} file: it does not start with {}", extension, magic);
}

}  // namespace

std::string detect_format(const Input& input) {
  const std::string_view bytes = input.bytes;
  if (bytes.starts_with("\x93NUMPY"sv)) return "npy";
  if (bytes.starts_with("MMIDIDX\0\0"sv)) return "megatron_idx";
  for (const Magic& magic : kUnreadable)
    if (bytes.starts_with(magic.bytes))
      bad_input(Place::byte(input.name, 0), "is {}; {}", magic.what, magic.remedy);
  refuse_missing_magic(input, ".npy", "\\x93NUMPY");
  refuse_missing_magic(input, ".idx", "MMIDIDX");
  if (has_extension(input.name, ".bin"))
    bad_input(Place::byte(input.name, 0),
              "a .bin file holds tokens; the lengths are in the .idx file beside it");

  const std::string_view line = first_line(bytes);
  if (line.starts_with('[')) return has_extension(input.name, ".csv") ? "csv" : "json";
  if (line.starts_with('{')) return "jsonl";
  if (has_extension(input.name, ".csv") || has_extension(input.name, ".tsv")) return "csv";
  if (has_extension(input.name, ".json")) return "json";
  if (has_extension(input.name, ".jsonl")) return "jsonl";
  if (line.find_first_of(",\t;|\"") != std::string_view::npos) return "csv";
  if (looks_like_number(line) || line.empty() || has_extension(input.name, ".txt")) return "text";
  return "csv";  // a header line of one column
}

}  // namespace counterpoise
