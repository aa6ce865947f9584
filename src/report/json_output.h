// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace counterpoise {

// What `--json FILE|-` of a verb writes: {"schema": "counterpoise/<verb>", "version": 1, ...body}, indented,
// with a final newline. `body` is an object; its keys keep their order. Numbers that are not finite become
// null. "-" is stdout; a file is written under a temporary name and renamed. Throws as write_file does.
void write_json(const std::string& path, const std::string& verb, const nlohmann::ordered_json& body,
                int version = 1);

// The same text, unwritten.
std::string json_document(const std::string& verb, const nlohmann::ordered_json& body, int version = 1);

}  // namespace counterpoise
