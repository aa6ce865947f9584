// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <limits>

#include "counterpoise/lengths.h"
#include "counterpoise/verify.h"
#include "counterpoise/windows.h"

namespace counterpoise {
namespace {

constexpr const char* kMix = COUNTERPOISE_DATA "/lengths/wlbllm_mix.json";

// Eight groups of eight windows of 32k, documents end to end in file order.
PlanRequest one_step() {
  std::vector<Document> documents;
  for (int64_t length : read_lengths(kMix).corpus)
    documents.push_back({static_cast<int64_t>(documents.size()), length});
  documents.resize(2000);
  PackOptions options;
  options.window = 32768;
  const std::vector<Window> windows = pack(documents, options);
  PlanRequest request;
  for (size_t i = 0; i < 64; ++i) {
    if (i % 8 == 0) request.groups.emplace_back();
    auto& window = request.groups.back().emplace_back();
    for (const Piece& piece : windows.at(i).pieces) window.push_back({piece.document, piece.length});
  }
  request.cp = 8;
  request.shape = {32, 8, 128, 128, 2, Mask::causal()};
  request.backward = true;
  return request;
}

double cpu_seconds() {
  return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
}

template <typename Body>
double best_of(int times, Body body) {
  double best = std::numeric_limits<double>::infinity();
  for (int i = 0; i < times; ++i) {
    const double begin = cpu_seconds();
    body();
    best = std::min(best, cpu_seconds() - begin);
  }
  return best;
}

// One thread, process CPU time, best of nine: neighbours on the machine disturb.
TEST(PlanSpeed, OneStepOfEightGroupsIsPlannedInTenMillisecondsAndVerifiedInAHundred) {
  if (!std::filesystem::exists(kMix)) GTEST_SKIP() << kMix << " is absent";
  PlanRequest request = one_step();
  for (const auto& [sharder, scheme] : {std::pair{"zigzag", "ring"}, {"per_document_zigzag", "all_gather"}}) {
    request.sharder = sharder;
    request.scheme = scheme;
    StepPlan plan;
    const double planning = best_of(9, [&] { plan = make_plan(request); });
    VerifyReport report;
    const double verifying = best_of(5, [&] { report = verify(plan); });
    EXPECT_TRUE(report.ok());
    std::printf("%s x %s: planned in %.2f ms, verified in %.1f ms\n", sharder, scheme, planning * 1e3,
                verifying * 1e3);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) && defined(__OPTIMIZE__)
    EXPECT_LT(planning, 0.010);
    EXPECT_LT(verifying, 0.100);
#endif
  }
}

}  // namespace
}  // namespace counterpoise
