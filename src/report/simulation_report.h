// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "counterpoise/lengths.h"
#include "counterpoise/profile.h"
#include "counterpoise/simulate.h"

namespace counterpoise {

// Everything a reader of a simulation needs to know what it was of.
struct SimulationRecord {
  const Lengths& lengths;
  const Profile& profile;
  const SimulationConfig& config;
  const SimulationResult& result;
};

// True where the longest piece a window can hold was not measured at this CP: the profile is continued there.
bool extrapolated(const Profile& profile, const SimulationConfig& config, int64_t cp);

std::string simulation_text(const SimulationRecord& record);
std::string simulation_csv(const SimulationRecord& record);
// The body of schema counterpoise/simulate: config, lengths, results[].
nlohmann::ordered_json simulation_json(const SimulationRecord& record);

// One entry of results[], also used by study.
nlohmann::ordered_json cp_result_json(const CpResult& result, Sync sync);
nlohmann::ordered_json estimate_json(const std::optional<Estimate>& estimate);
nlohmann::ordered_json number_json(const std::optional<double>& value);
nlohmann::ordered_json config_json(const SimulationRecord& record);
nlohmann::ordered_json profile_json(const Profile& profile);
// How windows are made and ordered: pack, long, look_ahead, order, window_order, regime.
nlohmann::ordered_json windows_json(const SimulationConfig& config);
nlohmann::ordered_json max_over_min_json(const std::optional<double>& p50, const std::optional<double>& p90,
                                         const std::optional<double>& mean,
                                         const std::optional<double>& share_below_2);

// "0.126 ± 0.012", "-" where absent.
std::string estimate_cell(const std::optional<Estimate>& estimate);
std::string number_cell(const std::optional<double>& value, int decimals = 2);
// "-" where there is no law.
std::string law_slowdown_cell(const Law* law, Sync sync);
std::string law_slowdown_cell(const CpResult& result, Sync sync);
std::string law_variance_cell(const CpResult& result);
std::string percent_cell(const std::optional<double>& share);
// What became of the tokens: dropped, cut, padded; empty when nothing was lost or padded.
std::string account_sentence(const PackAccount& account);

// The largest CP whose max/min is judged (4 groups or more), nullptr when there is none.
const CpResult* largest_judged(const std::vector<CpResult>& results);

}  // namespace counterpoise
