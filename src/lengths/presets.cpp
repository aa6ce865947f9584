// SPDX-License-Identifier: Apache-2.0
#include "lengths/presets.h"

#include <iterator>
#include <span>

#include "counterpoise/error.h"

namespace counterpoise {
namespace {

struct Preset {
  std::string_view name;
  std::string_view source;
  std::span<const LengthBin> bins;
};

#include "lengths/preset_tables.inc"

}  // namespace

std::vector<PresetInfo> preset_list() {
  std::vector<PresetInfo> list;
  for (const Preset& preset : kPresets)
    list.push_back({std::string(preset.name), std::string(preset.source)});
  return list;
}

Lengths preset_lengths(std::string_view name) {
  std::vector<std::string_view> names;
  for (const Preset& preset : kPresets) {
    names.push_back(preset.name);
    if (preset.name != name) continue;
    Lengths lengths;
    lengths.format = "preset";
    lengths.provenance = preset.source;
    lengths.bins.assign(preset.bins.begin(), preset.bins.end());
    return lengths;
  }
  throw_error(ErrorKind::kUsage, "preset:{} is unknown; the presets are {}", name, fmt::join(names, ", "));
}

}  // namespace counterpoise
