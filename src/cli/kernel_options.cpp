// SPDX-License-Identifier: Apache-2.0
#include "cli/kernel_options.h"

#include <cmath>

#include "cli/progress.h"
#include "counterpoise/error.h"
#include "counterpoise/numbers.h"
#include "kernels/backend.h"

namespace counterpoise {
namespace {

DType parse_dtype(const std::string& name) {
  for (const DType dtype : {DType::kFloat32, DType::kBFloat16, DType::kFloat16})
    if (name == dtype_name(dtype)) return dtype;
  throw_error(ErrorKind::kUsage, "--dtype: '{}' is not one of {}, {}, {}", name, dtype_name(DType::kFloat32),
              dtype_name(DType::kBFloat16), dtype_name(DType::kFloat16));
}

// Forward and backward of the largest call; beyond it one call takes minutes, whatever the budget.
void check_largest_call(const CalibrationOptions& options) {
  constexpr double kMostOperations = 1e13;
  const double per_pair = 14.0 * static_cast<double>(options.heads.heads * options.heads.head_dim);
  const double tokens = static_cast<double>(options.max_tokens);
  if (const double operations = per_pair * tokens * tokens / 2; operations > kMostOperations)
    throw_error(ErrorKind::kUsage,
                "--max-tokens {} with --heads {} of {}: the largest call takes {:.1g} operations, more than "
                "{:.0g}; at most {:.0f} tokens are possible",
                options.max_tokens, options.heads.heads, options.heads.head_dim, operations, kMostOperations,
                std::floor(std::sqrt(2 * kMostOperations / per_pair)));
}

// Counts above it exhaust memory or 64 bits before anything is timed.
const CLI::Range kHeads(1, 1 << 16);

}  // namespace

void IsaOption::add_to(CLI::App& verb) {
  verb.add_option("--isa", name, "Instruction set of the kernel; auto: the fastest here")
      ->type_name("ISA")
      ->capture_default_str();
}

Isa IsaOption::resolve() const {
  return resolve_isa(parse_isa(name));
}

void MeasuringOptions::add_to(CLI::App& verb) {
  verb.add_option("--budget", budget, "Time for measuring; three rounds of all calls are made in any case")
      ->type_name("TIME")
      ->capture_default_str();
  verb.add_option("--heads", measured.heads.heads, "Query heads")->capture_default_str()->check(kHeads);
  verb.add_option("--kv-heads", measured.heads.kv_heads, "Key/value heads; divides --heads")
      ->capture_default_str()
      ->check(kHeads);
  verb.add_option("--head-dim", measured.heads.head_dim, "Head dimension")
      ->capture_default_str()
      ->check(kHeads);
  verb.add_option("--max-tokens", max_tokens, "Tokens of the largest call")->capture_default_str();
  verb.add_option("--dtype", dtype, "float32, bfloat16 or float16")->capture_default_str();
  isa.add_to(verb);
  verb.add_option("--seed", measured.seed, "Seed of order and values")->capture_default_str();
}

CalibrationOptions MeasuringOptions::options(bool backward) const {
  CalibrationOptions options = measured;
  options.backward = backward;
  options.budget_seconds = parse_duration(budget, "--budget");
  options.dtype = parse_dtype(dtype);
  options.isa = isa.resolve();
  options.max_tokens = parse_size(max_tokens, "--max-tokens");
  if (options.heads.heads % options.heads.kv_heads != 0)
    throw_error(ErrorKind::kUsage, "--kv-heads {} does not divide --heads {}", options.heads.kv_heads,
                options.heads.heads);
  check_largest_call(options);
  return options;
}

}  // namespace counterpoise
