// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "counterpoise/lengths.h"
#include "counterpoise/study.h"

namespace counterpoise {

struct StudyRecord {
  const Lengths& lengths;
  const StudyConfig& config;
  const Study& study;
};

// Headline, the table of CP degrees, agreement, findings, packing.
std::string study_text(const StudyRecord& record);
// The body of schema counterpoise/study.
nlohmann::ordered_json study_json(const StudyRecord& record);

// What was found, one sentence each; the first says whether variance follows 1/CP.
std::vector<std::string> findings(const StudyRecord& record);
std::string name_of(Follows follows);  // "follows", "close", "does not follow", "inconclusive"

}  // namespace counterpoise
