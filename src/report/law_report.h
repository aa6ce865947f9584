// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "counterpoise/law_sweep.h"
#include "counterpoise/length_summary.h"
#include "counterpoise/lengths.h"
#include "counterpoise/profile.h"

namespace counterpoise {

struct LawRecord {
  const Lengths& lengths;
  const LengthSummary& summary;
  const Profile& profile;
  const SimulationConfig& config;
  const LawSweep& sweep;
  double target = 1.1;  // slowdown asked for
};

// P(max/min < 2) from which a CP counts as balanced.
inline constexpr double kBalancedShare = 0.95;

// The first row from which on, up to the largest CP, every row passes; nullptr where the last fails. Only
// rows with four groups or more are judged balanced or not.
const LawRow* first_within_target(const LawSweep& sweep, double target);
const LawRow* first_balanced(const LawSweep& sweep);

std::string law_text(const LawRecord& record);
// The body of schema counterpoise/law: config, lengths, results[], answers, sentences[].
nlohmann::ordered_json law_json(const LawRecord& record);

// Parts that other reports show: the laws at one CP, as an object; and the findings, one sentence each.
nlohmann::ordered_json law_row_json(const LawRow& row);
std::vector<std::string> law_sentences(const LawRecord& record);
// Why the variance of these lengths' costs says little; empty where it does mean something.
std::string tail_sentence(const LengthSummary& summary);

}  // namespace counterpoise
