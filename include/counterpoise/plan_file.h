// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "counterpoise/plan.h"

// Plans as bytes. One plan has one encoding: equal plans give equal bytes, and what loads saves back to the
// same bytes. Layout: docs/plan.md, "Plan files".
namespace counterpoise {

inline constexpr uint32_t kPlanFormatVersion = 1;

std::string save_plan(const StepPlan& plan);

// Throws kBadInput naming `name`, the offset, the field and the reason. Takes no more memory than a small
// multiple of the bytes. A plan that loads is well formed, not yet valid: indices may be wild until verify()
// has seen it.
StepPlan load_plan(std::string_view bytes, const std::string& name);

// File, or stdin/stdout for "-". Writing goes through a temporary name.
void write_plan_file(const std::string& path, const StepPlan& plan);
StepPlan read_plan_file(const std::string& path);

// 64 bits of the encoding, the same on every machine: ranks compare it before they start.
uint64_t plan_hash(const StepPlan& plan);
// Of the documents alone (ids, lengths, groups, windows), and of who holds which of their tokens.
uint64_t lengths_hash(const StepPlan& plan);
uint64_t layout_hash(const StepPlan& plan);

}  // namespace counterpoise
