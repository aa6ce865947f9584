// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "report/simulation_report.h"

namespace counterpoise {

// What a simulation says of the inside of its groups; only for records of a planned split.
std::string split_setting(const PlannedSplit& planned);  // one line: sharder, scheme, shape, links
std::string split_table(const SimulationRecord& record);
std::string split_sentence(const SimulationRecord& record);  // where the time goes at the largest CP

nlohmann::ordered_json split_config_json(const PlannedSplit& planned);
nlohmann::ordered_json within_groups_json(const WithinGroups& within);

}  // namespace counterpoise
