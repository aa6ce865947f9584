// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace counterpoise {

// kBadInput naming the file and the byte where the text stops being JSON; so are numbers that no double holds
// and more than 32 levels.
nlohmann::ordered_json parse_json(std::string_view text, const std::string& file);

// One JSON object of a file under validation. Every getter throws kBadInput naming the file, the field's
// path ("model.curve.tflops") and the rule it breaks.
class JsonFields {
 public:
  static constexpr int64_t kMost = int64_t{1} << 30;
  static constexpr double kDearest = 1e6;

  JsonFields(const nlohmann::ordered_json& object, std::string file, std::string path = "");

  JsonFields object(const std::string& name) const;
  std::string text(const std::string& name) const;
  int64_t integer(const std::string& name) const;
  double number(const std::string& name) const;  // finite
  double positive(const std::string& name) const;
  int64_t natural(const std::string& name, int64_t most = kMost) const;  // integer from 0 to most
  int64_t count(const std::string& name, int64_t most = kMost) const;    // from 1
  double price(const std::string& name) const;                           // seconds from 0 to kDearest
  void check_price(const std::string& name, double seconds) const;
  // The fields schema and version.
  void require_format(const char* schema, int64_t version) const;
  // Exactly `size` finite numbers; `rows` of any number of such lists.
  std::vector<double> numbers(const std::string& name, size_t size) const;
  std::vector<std::vector<double>> rows(const std::string& name, size_t size) const;
  std::vector<double> positives(const std::string& name) const;  // at least one
  std::vector<double> ascending(const std::string& name) const;  // positive, strictly ascending
  // rows x columns positive numbers.
  std::vector<std::vector<double>> grid(const std::string& name, size_t rows, size_t columns) const;
  bool has(const std::string& name) const { return object_.contains(name); }
  std::vector<JsonFields> objects(const std::string& name) const;  // a list of objects
  std::string dump() const { return object_.dump(); }

  [[noreturn]] void fail(const std::string& name, const std::string& rule) const;

 private:
  const nlohmann::ordered_json& at(const std::string& name) const;
  std::string where(const std::string& name) const;

  const nlohmann::ordered_json& object_;
  std::string file_, path_;
};

}  // namespace counterpoise
