// SPDX-License-Identifier: Apache-2.0
// NumPy's .npy (format versions 1 to 3): magic, version, header length, a Python dict as text, raw data.
#include <array>
#include <charconv>

#include "lengths/binary.h"
#include "lengths/place.h"
#include "lengths/readers.h"

namespace counterpoise {
namespace {

constexpr size_t kMagicSize = 6;

struct Header {
  std::string_view descr;  // "<i4": byte order, kind, width
  int64_t count = 0;
  size_t data = 0;  // where the values begin
};

// What follows 'key': in the dict.
std::string_view entry(std::string_view dict, std::string_view key, const Place& place) {
  for (const char quote : {'\'', '"'}) {
    const std::string name = fmt::format("{}{}{}", quote, key, quote);
    const size_t at = dict.find(name);
    if (at == std::string_view::npos) continue;
    const std::string_view rest = trimmed(dict.substr(at + name.size()));
    if (rest.starts_with(':')) return trimmed(rest.substr(1));
  }
  bad_input(place, "the .npy header has no '{}'", key);
}

std::string_view descr_of(std::string_view dict, const Place& place) {
  const std::string_view text = entry(dict, "descr", place);
  if (text.starts_with('['))
    bad_input(place, "structured .npy arrays are not lengths; save one field, 1-D integers");
  const size_t close = text.empty() ? std::string_view::npos : text.find(text.front(), 1);
  if (close == std::string_view::npos || (text.front() != '\'' && text.front() != '"'))
    bad_input(place, "the .npy header's descr is broken");
  return text.substr(1, close - 1);
}

int64_t count_of(std::string_view dict, const Place& place) {
  const std::string_view text = entry(dict, "shape", place);
  const size_t close = text.find(')');
  if (!text.starts_with('(') || close == std::string_view::npos)
    bad_input(place, "the .npy header's shape is broken");
  const std::string_view shape = trimmed(text.substr(1, close - 1));
  int64_t count = 0;
  const auto [end, status] = std::from_chars(shape.data(), shape.data() + shape.size(), count);
  const std::string_view rest = trimmed(shape.substr(static_cast<size_t>(end - shape.data())));
  if (status != std::errc() || count < 0 || rest != ",")
    bad_input(place, "a 1-D array is needed, the shape is ({})", shape);
  return count;
}

Header read_header(const Input& input) {
  const std::string_view bytes = input.bytes;
  if (!bytes.starts_with("\x93NUMPY"))
    bad_input(Place::byte(input.name, 0), "no .npy file: it does not start with \\x93NUMPY");
  const auto need = [&](size_t size) {
    if (bytes.size() < size)
      bad_input(Place::byte(input.name, static_cast<int64_t>(bytes.size())),
                "the .npy header is cut short at {} of {} bytes", bytes.size(), size);
  };
  need(kMagicSize + 2);
  const int major = bytes[kMagicSize];
  if (major < 1 || major > 3)
    bad_input(Place::byte(input.name, kMagicSize), "unknown .npy version {}; 1, 2 and 3 are known", major);
  const size_t text = kMagicSize + 2 + (major == 1 ? 2 : 4);
  need(text);
  const size_t size =
      major == 1 ? load<uint16_t>(bytes, kMagicSize + 2) : load<uint32_t>(bytes, kMagicSize + 2);
  need(text + size);
  const std::string_view dict = bytes.substr(text, size);
  const Place place = Place::byte(input.name, static_cast<int64_t>(text));
  return {descr_of(dict, place), count_of(dict, place), text + size};
}

template <typename T>
void read_values(const Input& input, const Header& header, std::endian order, std::vector<int64_t>& out) {
  const size_t there = (input.bytes.size() - header.data) / sizeof(T);
  const size_t count = static_cast<size_t>(header.count);
  if (there < count)
    bad_input(Place::byte(input.name, static_cast<int64_t>(input.bytes.size())),
              "cut short: {} of {} values are there", there, count);
  const size_t end = header.data + count * sizeof(T);
  if (end != input.bytes.size())
    bad_input(Place::byte(input.name, static_cast<int64_t>(end)), "{} bytes too many follow the {} values",
              input.bytes.size() - end, count);
  out.reserve(count);
  for (size_t at = header.data; at < end; at += sizeof(T)) {
    const T value = load<T>(input.bytes, at, order);
    const Place place = Place::byte(input.name, static_cast<int64_t>(at));
    if constexpr (sizeof(T) == 8 && std::is_unsigned_v<T>) {
      if (value > static_cast<uint64_t>(kMaxLength)) checked_length(static_cast<double>(value), place);
    }
    out.push_back(checked_length(static_cast<int64_t>(value), place));
  }
}

}  // namespace

void read_npy(const Input& input, Lengths& lengths) {
  using ReadValues = void (*)(const Input&, const Header&, std::endian, std::vector<int64_t>&);
  struct Type {
    std::string_view name;
    ReadValues read;
  };
  constexpr std::array kTypes = {
      Type{"i1", read_values<int8_t>},   Type{"i2", read_values<int16_t>},  Type{"i4", read_values<int32_t>},
      Type{"i8", read_values<int64_t>},  Type{"u1", read_values<uint8_t>},  Type{"u2", read_values<uint16_t>},
      Type{"u4", read_values<uint32_t>}, Type{"u8", read_values<uint64_t>},
  };
  const Header header = read_header(input);
  const bool has_order =
      !header.descr.empty() && std::string_view("<>|=").find(header.descr[0]) != std::string_view::npos;
  const std::string_view type = header.descr.substr(has_order ? 1 : 0);
  const std::endian order = header.descr.starts_with('>') ? std::endian::big : std::endian::little;
  for (const Type& known : kTypes)
    if (known.name == type) return known.read(input, header, order, lengths.corpus);
  bad_input(Place::byte(input.name, kMagicSize),
            "values of type {} are no lengths; save integers, for example int32", shown(header.descr));
}

}  // namespace counterpoise
