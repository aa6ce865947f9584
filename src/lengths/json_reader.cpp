// SPDX-License-Identifier: Apache-2.0
// A JSON list of lengths or of objects, and JSON Lines of objects. Values we do not need are parsed all the
// same, so that a corrupt file never passes.
#include <simdjson.h>

#include <algorithm>
#include <optional>

#include "lengths/place.h"
#include "lengths/readers.h"

namespace counterpoise {
namespace {

namespace ondemand = simdjson::ondemand;

static_assert(simdjson::SIMDJSON_PADDING <= kInputPadding);

constexpr int kMaxDepth = 200;  // nesting; bounds our recursion on hostile input

// Parses one JSON text and takes lengths from it. `origin` is where errors point: a line of JSON Lines, or
// (no line) the byte offset inside the file.
class JsonLengths {
 public:
  explicit JsonLengths(const Input& input) : input_(input), field_(input.field) {}

  void read_list(std::vector<int64_t>& out) {
    parse(input_.bytes, 0, [&](ondemand::document& document) {
      if (document.type() != ondemand::json_type::array)
        bad_input(Place::byte(input_.name, 0), "a JSON list of lengths was expected");
      for (auto element : document.get_array()) out.push_back(length_of_element(element.value()));
    });
  }

  int64_t read_line(std::string_view text, int64_t line) {
    int64_t length = 0;
    parse(text, line, [&](ondemand::document& document) {
      if (document.type() != ondemand::json_type::object)
        bad_input(Place::line(input_.name, line), "a JSON object with a length was expected, not {}",
                  shown(text));
      length = length_of_object(document.get_object(), text.data());
    });
    return length;
  }

 private:
  template <typename Body>
  void parse(std::string_view text, int64_t line, Body body) {
    line_ = line;
    ondemand::document document;
    const simdjson::padded_string_view padded(text.data(), text.size(), text.size() + kInputPadding);
    if (const auto error = parser_.iterate(padded).get(document)) syntax_error(error, text.data());
    try {
      body(document);
      const char* trailing = nullptr;  // out of bounds once all is read
      if (document.current_location().get(trailing) == simdjson::SUCCESS)
        syntax_error(simdjson::TRAILING_CONTENT, trailing);
    } catch (const simdjson::simdjson_error& error) {
      syntax_error(error.error(), location(document, text));
    }
  }

  const char* location(ondemand::document& document, std::string_view text) {
    const char* at = nullptr;
    const bool known = document.current_location().get(at) == simdjson::SUCCESS;
    return known && at >= text.data() && at <= text.data() + text.size() ? at : text.data() + text.size();
  }

  Place place(const char* at) const {
    return line_ > 0 ? Place::line(input_.name, line_) : Place::byte(input_.name, at - input_.bytes.data());
  }

  [[noreturn]] void syntax_error(simdjson::error_code error, const char* at) const {
    std::string reason = simdjson::error_message(error);
    while (!reason.empty() && reason.back() == '.') reason.pop_back();
    bad_input(place(at), "broken JSON: {}", reason);
  }

  int64_t length_of_element(ondemand::value value) {
    if (value.type() == ondemand::json_type::object)
      return length_of_object(value.get_object(), value.raw_json_token().data());
    return number(value);
  }

  int64_t number(ondemand::value value) const {
    const std::string_view token = value.raw_json_token();
    const Place here = place(token.data());
    if (value.type() != ondemand::json_type::number)
      bad_input(here, "{} is not a length (a whole number of tokens, 0 or more)",
                shown(token.substr(0, token.find_first_of(",]}\n"))));
    int64_t whole = 0;
    if (value.get_int64().get(whole) == simdjson::SUCCESS) return checked_length(whole, here);
    return checked_length(double(value.get_double()), here);
  }

  int64_t length_of_object(ondemand::object object, const char* at) {
    const bool known = !field_.empty();
    std::optional<int64_t> length;
    std::string name;
    size_t best = length_field_names().size();
    for (auto member : object) {
      const std::string_view key = member.unescaped_key();
      ondemand::value value = member.value();
      const bool taken = known ? key == field_ : is_number(value) && rank_of(key) < best;
      if (!taken) {
        skip(value, 0);
        continue;
      }
      if (known && length) bad_input(place(at), "the field {} appears twice in this object", shown(key));
      if (!known) best = rank_of(name = key);
      length = number(value);
    }
    if (!length) no_length(at);
    // The first object decides which of the well-known names the others must have.
    if (!known) field_ = name;
    return *length;
  }

  static bool is_number(ondemand::value value) { return value.type() == ondemand::json_type::number; }

  // Position in the list of well-known names.
  static size_t rank_of(std::string_view key) {
    const auto names = length_field_names();
    return static_cast<size_t>(std::ranges::find(names, normalized_name(key)) - names.begin());
  }

  [[noreturn]] void no_length(const char* at) const {
    if (!field_.empty()) bad_input(place(at), "no field {} in this object", shown(field_));
    bad_input(place(at),
              "no length in this object (length, num_tokens, token_count, input_length, ...); "
              "name the key with --field");
  }

  // Walks over a value nobody asked for and checks it.
  void skip(ondemand::value value, int depth) const {
    if (depth > kMaxDepth) bad_input(place(value.raw_json_token().data()), "broken JSON: nested too deeply");
    switch (value.type()) {
      case ondemand::json_type::array:
        for (auto element : value.get_array()) skip(element.value(), depth + 1);
        break;
      case ondemand::json_type::object:
        for (auto member : value.get_object()) {
          member.unescaped_key().value();
          skip(member.value(), depth + 1);
        }
        break;
      case ondemand::json_type::number:
        value.get_double().value();
        break;
      case ondemand::json_type::string:
        value.get_string().value();
        break;
      case ondemand::json_type::boolean:
        value.get_bool().value();
        break;
      case ondemand::json_type::null:
        if (!value.is_null().value()) throw simdjson::simdjson_error(simdjson::N_ATOM_ERROR);
        break;
    }
  }

  const Input& input_;
  std::string field_;
  int64_t line_ = 0;
  ondemand::parser parser_;
};

}  // namespace

void read_json(const Input& input, Lengths& lengths) {
  JsonLengths(input).read_list(lengths.corpus);
}

void read_jsonl(const Input& input, Lengths& lengths) {
  JsonLengths reader(input);
  int64_t line = 0;
  for (size_t begin = 0; begin < input.bytes.size();) {
    const size_t end = std::min(input.bytes.find('\n', begin), input.bytes.size());
    const std::string_view text = trimmed(input.bytes.substr(begin, end - begin));
    ++line;
    if (!text.empty()) lengths.corpus.push_back(reader.read_line(text, line));
    begin = end + 1;
  }
}

}  // namespace counterpoise
