// SPDX-License-Identifier: Apache-2.0
#include "cost/built_in_profiles.h"

#include "cost/document_profile.h"

namespace counterpoise {
namespace {

ProfilePtr area_profile() {
  return std::make_shared<AreaProfile>(
      ProfileInfo{"area", "definition: unmasked (query, key) pairs", "pairs", "none", "none", ""});
}

struct PenaltyRow {
  double length;
  std::vector<double> at_cp;  // 1, 2, 4, 8
};

ProfilePtr h100_fa3() {
  // FlashAttention-3 forward, causal, head_dim 128, 16-bit, 16K tokens in total: arXiv 2407.08608.
  const std::vector<double> lengths = {512, 1024, 2048, 4096, 8192, 16384};
  const std::vector<double> tflops = {292, 423, 521, 579, 602, 616};
  const std::vector<PenaltyRow> rows = {
#include "cost/h100_penalty.inc"
  };
  std::vector<double> penalty_lengths;
  std::vector<std::vector<double>> penalty;
  for (const PenaltyRow& row : rows) {
    penalty_lengths.push_back(row.length);
    penalty.push_back(row.at_cp);
  }
  DocumentTables tables{4.0 * 128, LogAxis(lengths), tflops, LogAxis(penalty_lengths), LogAxis({1, 2, 4, 8}),
                        penalty};
  return std::make_shared<DocumentProfile>(
      ProfileInfo{"h100-fa3",
                  "speed: FlashAttention-3, arXiv 2407.08608, H100 SXM5; cost of splitting: varlen causal "
                  "forward on H100, hao-ai-lab/distca, tp = 1",
                  "seconds", "NVIDIA H100 SXM5", "FlashAttention-3 causal forward, 16-bit, one head of 128",
                  ""},
      std::move(tables));
}

// clang-format off
constexpr const char* kH100Varlen =
#include "cost/h100_varlen.inc"
;
constexpr const char* kA100 =
#include "cost/a100.inc"
;
// clang-format on

struct BuiltIn {
  const char* name;
  ProfilePtr (*make)();
};
const BuiltIn kBuiltIns[] = {
    {"h100-fa3", h100_fa3},
    {"h100-varlen", [] { return parse_profile(kH100Varlen, "h100-varlen"); }},
    {"a100", [] { return parse_profile(kA100, "a100"); }},
    {"area", area_profile},
};

}  // namespace

std::vector<std::string> profile_names() {
  std::vector<std::string> names;
  for (const BuiltIn& entry : kBuiltIns) names.push_back(entry.name);
  return names;
}

ProfilePtr built_in_profile(const std::string& name) {
  for (const BuiltIn& entry : kBuiltIns)
    if (name == entry.name) return entry.make();
  return nullptr;
}

}  // namespace counterpoise
