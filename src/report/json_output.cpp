// SPDX-License-Identifier: Apache-2.0
#include "report/json_output.h"

#include <nlohmann/json.hpp>

#include "base/files.h"
#include "counterpoise/error.h"

namespace counterpoise {

std::string json_document(const std::string& verb, const nlohmann::ordered_json& body, int version) {
  CP_CHECK(body.is_object());
  nlohmann::ordered_json document;
  document["schema"] = "counterpoise/" + verb;
  document["version"] = version;
  document.update(body);
  // A file name need not be valid UTF-8: such bytes are replaced, never a reason to fail at the very end.
  return document.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

void write_json(const std::string& path, const std::string& verb, const nlohmann::ordered_json& body,
                int version) {
  write_file(path, json_document(verb, body, version));
}

}  // namespace counterpoise
