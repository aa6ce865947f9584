// SPDX-License-Identifier: Apache-2.0
#include "cost/json_fields.h"

#include <cmath>

#include "counterpoise/error.h"

namespace counterpoise {

nlohmann::ordered_json parse_json(std::string_view text, const std::string& file) {
  constexpr int kDeepest = 32;  // writing values out again recurses
  const auto bounded = [&](int depth, auto, const auto&) {
    if (depth > kDeepest) throw_error(ErrorKind::kBadInput, "{}: more than {} levels deep", file, kDeepest);
    return true;
  };
  try {
    return nlohmann::ordered_json::parse(text, bounded);
  } catch (const nlohmann::json::out_of_range& wrong) {
    throw_error(ErrorKind::kBadInput, "{}: a number is out of range: {}", file, wrong.what());
  } catch (const nlohmann::json::parse_error& wrong) {
    throw_error(ErrorKind::kBadInput, "{}: not JSON at byte {}", file, wrong.byte);
  }
}

JsonFields::JsonFields(const nlohmann::ordered_json& object, std::string file, std::string path)
    : object_(object), file_(std::move(file)), path_(std::move(path)) {
  if (!object_.is_object())
    throw_error(ErrorKind::kBadInput, "{}: {} must be a JSON object", file_,
                path_.empty() ? "the file" : path_);
}

std::string JsonFields::where(const std::string& name) const {
  return path_.empty() ? name : path_ + "." + name;
}

void JsonFields::fail(const std::string& name, const std::string& rule) const {
  throw_error(ErrorKind::kBadInput, "{}: field {}: {}", file_, where(name), rule);
}

const nlohmann::ordered_json& JsonFields::at(const std::string& name) const {
  const auto found = object_.find(name);
  if (found == object_.end()) fail(name, "is missing");
  return *found;
}

JsonFields JsonFields::object(const std::string& name) const {
  const nlohmann::ordered_json& value = at(name);
  if (!value.is_object()) fail(name, "must be an object");
  return JsonFields(value, file_, where(name));
}

std::vector<JsonFields> JsonFields::objects(const std::string& name) const {
  const nlohmann::ordered_json& value = at(name);
  if (!value.is_array() || value.empty()) fail(name, "must be a list of at least one object");
  std::vector<JsonFields> list;
  for (const nlohmann::ordered_json& entry : value)
    list.emplace_back(entry, file_, fmt::format("{}[{}]", where(name), list.size()));
  return list;
}

std::string JsonFields::text(const std::string& name) const {
  const nlohmann::ordered_json& value = at(name);
  if (!value.is_string()) fail(name, "must be a string");
  return value.get<std::string>();
}

int64_t JsonFields::integer(const std::string& name) const {
  const nlohmann::ordered_json& value = at(name);
  if (!value.is_number_integer()) fail(name, "must be an integer");
  return value.get<int64_t>();
}

double JsonFields::number(const std::string& name) const {
  const nlohmann::ordered_json& value = at(name);
  if (!value.is_number() || !std::isfinite(value.get<double>())) fail(name, "must be a finite number");
  return value.get<double>();
}

double JsonFields::positive(const std::string& name) const {
  const double value = number(name);
  if (value <= 0) fail(name, fmt::format("must be above zero, is {}", value));
  return value;
}

int64_t JsonFields::count(const std::string& name, int64_t most) const {
  const int64_t value = natural(name, most);
  if (value < 1) fail(name, "must be at least 1, is 0");
  return value;
}

int64_t JsonFields::natural(const std::string& name, int64_t most) const {
  const int64_t value = integer(name);
  if (value < 0 || value > most)
    fail(name, fmt::format("must be from 0 to {}, is {}", most, at(name).dump()));
  return value;
}

double JsonFields::price(const std::string& name) const {
  const double value = number(name);
  check_price(name, value);
  return value;
}

void JsonFields::check_price(const std::string& name, double value) const {
  if (value < 0) fail(name, fmt::format("must not be negative, is {}", value));
  if (value > kDearest) fail(name, fmt::format("must be at most {} seconds, is {}", kDearest, value));
}

void JsonFields::require_format(const char* schema, int64_t version) const {
  if (text("schema") != schema)
    fail("schema", fmt::format("must be \"{}\", is {}", schema, at("schema").dump()));
  if (integer("version") != version)
    fail("version", fmt::format("must be {}, is {}", version, at("version").dump()));
}

std::vector<double> JsonFields::numbers(const std::string& name, size_t size) const {
  const nlohmann::ordered_json& value = at(name);
  if (!value.is_array() || value.size() != size)
    fail(name, fmt::format("must be a list of {} numbers", size));
  std::vector<double> list;
  for (const nlohmann::ordered_json& entry : value) {
    if (!entry.is_number() || !std::isfinite(entry.get<double>()))
      fail(name, fmt::format("entry {} must be a finite number", list.size()));
    list.push_back(entry.get<double>());
  }
  return list;
}

std::vector<std::vector<double>> JsonFields::rows(const std::string& name, size_t size) const {
  const nlohmann::ordered_json& value = at(name);
  if (!value.is_array()) fail(name, "must be a list of lists");
  std::vector<std::vector<double>> lists;
  for (const nlohmann::ordered_json& entry : value) {
    nlohmann::ordered_json row;
    const std::string row_name = fmt::format("{}[{}]", name, lists.size());
    row[row_name] = entry;
    lists.push_back(JsonFields(row, file_, path_).numbers(row_name, size));
  }
  return lists;
}

std::vector<double> JsonFields::positives(const std::string& name) const {
  const nlohmann::ordered_json& value = at(name);
  if (!value.is_array() || value.empty()) fail(name, "must be a list of at least one number");
  std::vector<double> numbers;
  for (const nlohmann::ordered_json& entry : value) {
    const bool good = entry.is_number() && std::isfinite(entry.get<double>()) && entry.get<double>() > 0;
    if (!good) fail(name, fmt::format("entry {} must be a finite number above zero", numbers.size()));
    numbers.push_back(entry.get<double>());
  }
  return numbers;
}

std::vector<double> JsonFields::ascending(const std::string& name) const {
  std::vector<double> numbers = positives(name);
  for (size_t i = 1; i < numbers.size(); ++i)
    if (numbers[i] <= numbers[i - 1]) fail(name, fmt::format("must ascend, entry {} does not", i));
  return numbers;
}

std::vector<std::vector<double>> JsonFields::grid(const std::string& name, size_t rows,
                                                  size_t columns) const {
  const nlohmann::ordered_json& value = at(name);
  if (!value.is_array() || value.size() != rows) fail(name, fmt::format("must be a list of {} rows", rows));
  std::vector<std::vector<double>> numbers;
  for (const nlohmann::ordered_json& entry : value) {
    nlohmann::ordered_json row;
    const std::string row_name = fmt::format("{}[{}]", name, numbers.size());
    row[row_name] = entry;
    numbers.push_back(JsonFields(row, file_, path_).positives(row_name));
    if (numbers.back().size() != columns) fail(row_name, fmt::format("must have {} entries", columns));
  }
  return numbers;
}

}  // namespace counterpoise
