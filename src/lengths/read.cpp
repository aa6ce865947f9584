// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

#include "base/files.h"
#include "counterpoise/error.h"
#include "counterpoise/lengths.h"
#include "lengths/distributions.h"
#include "lengths/place.h"
#include "lengths/presets.h"
#include "lengths/readers.h"

namespace counterpoise {
namespace {

using Reader = void (*)(const Input&, Lengths&);

struct Format {
  std::string_view name;
  Reader reader;
  bool is_text;      // a byte-order mark may lead
  bool takes_field;  // columns or keys to choose from
};

constexpr std::array kFormats = {
    Format{"text", read_text, true, false},       Format{"json", read_json, true, true},
    Format{"jsonl", read_jsonl, true, true},      Format{"csv", read_csv, true, true},
    Format{"weighted_csv", read_csv, true, true}, Format{"binned_csv", read_csv, true, false},
    Format{"npy", read_npy, false, false},        Format{"megatron_idx", read_megatron_idx, false, false},
};

const Format& format_named(std::string_view name) {
  for (const Format& format : kFormats)
    if (format.name == name) return format;
  std::vector<std::string_view> names;
  for (const Format& format : kFormats) names.push_back(format.name);
  throw_error(ErrorKind::kUsage, "--format: '{}' is unknown; choose one of {}", name, fmt::join(names, ", "));
}

void strip_byte_order_mark(std::string_view& bytes) {
  if (bytes.starts_with("\xef\xbb\xbf")) bytes.remove_prefix(3);
}

void refuse_file_options(const std::string& source, const ReadOptions& options) {
  if (!options.field.empty() || !options.format.empty())
    throw_error(ErrorKind::kUsage, "--field and --format are for files; {} is none", source);
}

}  // namespace

Lengths parse_lengths(const std::string& name, std::string content, const ReadOptions& options) {
  const size_t size = content.size();
  if (size == 0) throw_error(ErrorKind::kBadInput, "{}: is empty", name);
  content.append(kInputPadding, '\0');
  Input input{name, std::string_view(content).substr(0, size), options.field};
  std::string_view text = input.bytes;
  strip_byte_order_mark(text);
  const std::string detected =
      options.format.empty() ? detect_format({name, text, options.field}) : options.format;
  const Format& format = format_named(detected);
  if (!options.field.empty() && !format.takes_field)
    throw_error(ErrorKind::kUsage, "--field: {} is read as {}, which has no columns or keys", name, detected);
  if (format.is_text) input.bytes = text;

  Lengths lengths;
  if (!options.format.empty() || detected != "csv") lengths.format = detected;
  format.reader(input, lengths);
  if (lengths.corpus.empty() && lengths.bins.empty())
    throw_error(ErrorKind::kBadInput, "{}: holds no lengths (read as {})", name, detected);
  if (!lengths.corpus.empty()) lengths.documents = static_cast<int64_t>(lengths.corpus.size());
  return lengths;
}

Lengths read_lengths(const std::string& source, const ReadOptions& options) {
  const bool is_preset = source.starts_with("preset:"), is_dist = source.starts_with("dist:");
  if (is_preset || is_dist) refuse_file_options(source, options);
  if (!options.format.empty()) format_named(options.format);  // complain before reading
  Lengths lengths = is_preset ? preset_lengths(source.substr(7))
                    : is_dist ? distribution_lengths(source.substr(5))
                              : parse_lengths(source == "-" ? "stdin" : source, read_file(source), options);
  lengths.source = source;
  return lengths;
}

}  // namespace counterpoise
