// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "counterpoise/plan.h"
#include "counterpoise/verify.h"

namespace counterpoise {

// What a plan is: groups, layout, shape, hashes, sizes.
std::string plan_head_text(const StepPlan& plan);
nlohmann::ordered_json plan_head_json(const StepPlan& plan);

// Loads of all windows: per rank of each group tokens, area, bytes sent and received, messages, peak memory,
// and the traffic beside its lower bound.
std::string plan_loads_text(const StepPlan& plan);
nlohmann::ordered_json plan_loads_json(const StepPlan& plan);

// The mask of one window, one character per cell of `cells` x `cells`: which rank computes it for query head
// `head`. A cell that several ranks share shows the one with the most pairs. Masked cells are dots.
struct PictureOptions {
  int32_t head = 0;
  int32_t cells = 64;
  bool backward = false;
  bool colour = false;
};
std::string plan_picture(const StepPlan& plan, const WindowPlan& window, const PictureOptions& options);

// One rank's program, one op a line.
std::string program_text(const WindowPlan& window, bool backward, int32_t rank);

// Everything, window by window.
nlohmann::ordered_json plan_json(const StepPlan& plan);

std::string verify_text(const VerifyReport& report);
nlohmann::ordered_json verify_json(const VerifyReport& report);

}  // namespace counterpoise
